package reapi

import "sync/atomic"

// inVain is after how many results in a row that the engine did not know it is asked for none
// before an execution: a new tool has none, and Execute looks once more anyway.
const inVain = 32

// asking tells whether an engine is worth asking for a result before all that an execution
// needs is sent. It is, until nothing was known for a while; and again from the first
// execution on that the engine spared itself. So a run of which nothing is known makes a
// request less for each case, and one of which all is known sends nothing.
type asking struct{ misses atomic.Int64 }

func (a *asking) worthAsking() bool { return a.misses.Load() < inVain }

func (a *asking) tell(known bool) {
	if known {
		a.misses.Store(0)
	} else {
		a.misses.Add(1)
	}
}
