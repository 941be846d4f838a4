package reapi

import "sync/atomic"

// missesMax is the number of lookups in a row without a hit after which lookups stop. A new
// tool has no cached results, and Execute looks in the cache anyway.
const missesMax = 32

// lookupPolicy decides whether to look up an action's result before uploading what an execution
// needs. Lookups stop after many misses. They start again when the engine answers an execution
// from its cache. So a run without hits makes one request less for each case, and a run of hits
// alone uploads nothing.
type lookupPolicy struct{ misses atomic.Int64 }

func (p *lookupPolicy) worthwhile() bool { return p.misses.Load() < missesMax }

func (p *lookupPolicy) record(hit bool) {
	if hit {
		p.misses.Store(0)
	} else {
		p.misses.Add(1)
	}
}
