package outcome

// What a shell makes of a signal, and an engine too, is an exit status above signalBase.
const (
	signalBase = 128
	signalMax  = 64
)

// SignalOf returns the signal of which shells make such an exit status.
func SignalOf(status int) (signal int, ok bool) {
	return status - signalBase, status > signalBase && status <= signalBase+signalMax
}

// TwoReadings reports whether another ending has the same exit status, where that is all that
// is told: a signal, and the exit that a shell makes of it.
func (e Ending) TwoReadings() bool {
	_, is := SignalOf(e.status())
	return is
}

// status is what an engine tells of an ending; 0 also of one that it tells otherwise.
func (e Ending) status() int {
	switch e.Kind {
	case Exited:
		return e.Code
	case Signalled:
		return signalBase + e.Code
	}
	return 0
}

// Settle gives o, a further outcome of a case, an ending of old where that is another reading
// of one status, and an engine reported either of them: nobody knows that they differ.
func (o *Outcome) Settle(old *Outcome) {
	if !o.ByStatus && !old.ByStatus || !o.Ending.TwoReadings() || old.EndedAs(o.Ending) {
		return
	}
	for _, e := range append([]Ending{old.Ending}, old.Others...) {
		if e.TwoReadings() && e.status() == o.Ending.status() {
			o.Ending, o.ByStatus = e, true
			return
		}
	}
}
