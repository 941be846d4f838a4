package reapi

import "sync/atomic"

// missesMax is after how many lookups in a row without a hit none is made before an execution:
// a new tool has no results, and Execute looks once more anyway.
const missesMax = 32

// lookupPolicy tells whether to look up an action's result in the engine's cache before all
// that an execution needs is uploaded. It is worthwhile until there was no hit for a while;
// and again from the first execution on that the engine spared itself. So a run without hits
// makes a request less for each case, and one of hits alone uploads nothing.
type lookupPolicy struct{ misses atomic.Int64 }

func (p *lookupPolicy) worthwhile() bool { return p.misses.Load() < missesMax }

func (p *lookupPolicy) record(hit bool) {
	if hit {
		p.misses.Store(0)
	} else {
		p.misses.Add(1)
	}
}
