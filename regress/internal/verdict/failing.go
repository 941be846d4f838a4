package verdict

import (
	"muster/regress/internal/pass"
)

// failureCounter counts the first runs that fail newly, until another run comes.
type failureCounter struct {
	base  Baseline
	cases int    // selected
	warn  func() // called once if the first cases that ran all fail and did not fail before

	count   int
	stopped bool
	warned  bool
}

// add adds a first run.
func (f *failureCounter) add(caseName string, r firstResult) error {
	f.stopped = f.stopped || r.identical || r.ending.Success()
	if f.stopped {
		return nil
	}
	old, known, err := f.base.Get(caseName)
	if f.stopped = known && !old.Outcome.Ending.Success(); err != nil || f.stopped {
		return err
	}
	if f.count++; f.count == pass.FailingFirst && f.cases != pass.FailingFirst {
		f.warned = true
		f.warn()
	}
	return nil
}
