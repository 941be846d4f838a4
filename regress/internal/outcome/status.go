package outcome

import "muster/regress"

// signalBase is added to a signal's number to form an exit status, by shells and by engines.
const (
	signalBase = 128
	signalMax  = 64
)

// SignalOf returns the signal that a shell reports as this exit status.
func SignalOf(status int) (signal int, ok bool) {
	return status - signalBase, status > signalBase && status <= signalBase+signalMax
}

// HasTwoReadings reports whether e shares its exit status with another ending: a signal, and
// the exit that a shell makes of it.
func HasTwoReadings(e regress.Ending) bool {
	_, is := SignalOf(statusOf(e))
	return is
}

// statusOf returns the exit status by which an engine reports an ending, or 0 if it has another
// form for it.
func statusOf(e regress.Ending) int {
	switch e.Kind {
	case regress.Exited:
		return e.Code
	case regress.Signalled:
		return signalBase + e.Code
	}
	return 0
}

// Settle resolves an ambiguous exit status of o, a further outcome of a case. If an engine
// reported either outcome, and an ending of old is another reading of the same status, o gets
// that ending. Nothing shows that the two differ.
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
