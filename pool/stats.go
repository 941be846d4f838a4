package pool

// Stats describes what a pool is doing. Every field except Workers and QueueMax counts tasks.
type Stats struct {
	Workers  int    // goroutines that run tasks, as given to New
	QueueMax int    // places in the queue
	Queued   int    // submitted and not started
	Running  int    // started and not done
	Done     uint64 // done since New
}

// Stats returns the figures of one moment, which may be outdated when it returns. Do not rely
// on their sum while tasks run: a later version may miss a task or count it twice while it
// moves from one field to the next.
func (p *Pool[T]) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	unstarted, running := p.unstarted(), 0
	for i := range p.workers {
		if p.workers[i].oldest() != none {
			running++
		}
	}
	return Stats{
		Workers:  len(p.workers),
		QueueMax: len(p.queue.places),
		Queued:   unstarted,
		Running:  running,
		Done:     p.claimed + uint64(p.queue.count-unstarted-running),
	}
}
