package outcome

import "muster/regress"

// What a shell makes of a signal, and an engine too, is an exit status above signalBase.
const (
	signalBase = 128
	signalMax  = 64
)

// SignalOf returns the signal of which shells make such an exit status.
func SignalOf(status int) (signal int, ok bool) {
	return status - signalBase, status > signalBase && status <= signalBase+signalMax
}

// HasTwoReadings reports whether another ending has the same exit status, where that is all that
// is told: a signal, and the exit that a shell makes of it.
func HasTwoReadings(e regress.Ending) bool {
	_, is := SignalOf(statusOf(e))
	return is
}

// statusOf is what an engine tells of an ending; 0 also of one that it tells otherwise.
func statusOf(e regress.Ending) int {
	switch e.Kind {
	case regress.Exited:
		return e.Code
	case regress.Signalled:
		return signalBase + e.Code
	}
	return 0
}

// Settle gives o, a further outcome of a case, an ending of old where that is another reading
// of one status, and an engine reported either of them: nobody knows that they differ.
func (o *Outcome) Settle(old *Outcome) {
	if !o.ByStatus && !old.ByStatus || !HasTwoReadings(o.Ending) || old.EndedAs(o.Ending) {
		return
	}
	for _, e := range append([]regress.Ending{old.Ending}, old.Others...) {
		if HasTwoReadings(e) && statusOf(e) == statusOf(o.Ending) {
			o.Ending, o.ByStatus = e, true
			return
		}
	}
}
