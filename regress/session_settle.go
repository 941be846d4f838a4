package regress

import (
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// settling is for runs that are compared with a golden where either side may be of an engine,
// which has one exit status for what are two endings here. By accepts a golden may have
// outcomes of both: each says of itself which it is.
type settling struct {
	asks bool                                      // else all is of this machine
	was  func(string) (golden.Record, bool, error) // what the golden has of a case
}

func settlingWith(meta golden.Meta, remote bool, was func(string) (golden.Record, bool, error)) settling {
	return settling{asks: remote || meta.OnEngine(), was: was}
}

// settle gives a run of a case the golden's ending, if an engine cannot tell the one from the
// other. Any goroutine may call it.
func (s *settling) settle(caseName string, o *outcome.Outcome) {
	if !s.asks || !o.Ending.TwoReadings() {
		return
	}
	if old, known, err := s.was(caseName); err == nil && known { // an error is told by the comparison
		o.Settle(&old.Outcome)
	}
}
