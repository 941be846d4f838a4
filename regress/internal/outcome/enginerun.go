package outcome

import (
	"time"
)

// EngineRun is the account that an engine gives of a run. For a cached result it is the account
// of the original run. Values that the engine does not report are zero. A nil *EngineRun stands
// for a run on this machine.
type EngineRun struct {
	Cached     bool          `json:"cached" line:"cached"`                        // the engine had the result in its cache
	Worker     string        `json:"worker" line:"worker,name"`                   // name of the worker that ran it, raw bytes
	Queued     time.Duration `json:"queued_ns" line:"queued_ms,known=QueueKnown"` // time until a worker took it
	QueueKnown bool          `json:"queue_told"`                                  // whether Queued is known
	Took       time.Duration `json:"took_ns" line:"took_ms"`                      // of the command alone
	Measured   bool          `json:"measured" line:"measured"`                    // CPU time and peak memory come from the engine; else they are unknown
	// Asked is the time from the request until the result was here, by this machine's clock.
	// It is 0 for a cached result.
	Asked time.Duration `json:"asked_ns" line:"asked_ms"`
}

// IsMeasured reports whether the CPU time and the peak memory of the run are known.
func (r *EngineRun) IsMeasured() bool { return r == nil || r.Measured }
