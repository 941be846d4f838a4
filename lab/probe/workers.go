package probe

import (
	"errors"
	"time"

	"muster/pool"
)

// WorkersOptions configures [Workers].
type WorkersOptions struct {
	Workers int
	Tasks   int
	Roots   int           // square roots of each task: its computation
	Wait    time.Duration // wait of each task after that, as for a disk or a network
}

// Workers measures tasks that compute and then wait, on a pool.
func Workers(o WorkersOptions) (Cost, error) {
	if o.Workers < 1 || o.Tasks < 1 || o.Roots < 0 || o.Wait < 0 {
		return Cost{}, errors.New("workers and tasks must be 1 or more, roots and wait 0 or more")
	}
	p := pool.New(o.Workers, func(from int) {
		_ = roots(o.Roots, from)
		if o.Wait > 0 {
			time.Sleep(o.Wait)
		}
	})
	defer p.Close()
	submit(p, min(o.Tasks, o.Workers))
	return measure(o.Tasks, func(n int) { submit(p, n) }), nil
}
