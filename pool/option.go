package pool

import "fmt"

// An Option changes how [New] makes a pool.
type Option func(*settings)

type settings struct {
	queueMax int
}

// Queue sets how many tasks may wait for a worker, beside those that run; 1024
// without this option. Memory for at most twice as many values is taken at once, and
// for one per worker. A short queue makes producers wait early, a long one
// evens out bursts.
//
// Queue panics if queueMax is below 1.
func Queue(queueMax int) Option {
	if queueMax < 1 {
		panic(fmt.Sprintf("pool: Queue(%d): a queue needs at least 1 place", queueMax))
	}
	return func(s *settings) { s.queueMax = queueMax }
}

func checkWorkers(workers int) {
	if workers < 1 {
		panic(fmt.Sprintf("pool: %d workers: at least 1 is needed", workers))
	}
}
