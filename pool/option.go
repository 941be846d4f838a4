package pool

import "fmt"

// An Option changes how [New] makes a pool.
type Option func(*settings)

type settings struct {
	queueMax int
}

// Queue sets how many tasks may wait in the queue. The default is 1,024. Beside them wait those
// that workers have taken out: as many as a worker should start within 20 µs, 64 at most. New
// allocates memory for at most twice as many values as places, and for one value per worker. A
// short queue makes producers wait early. A long queue evens out bursts.
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
