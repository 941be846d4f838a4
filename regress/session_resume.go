package regress

import (
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// resumeOnly restricts a resumed run to the cases of the interrupted run. No flag repeats the
// restriction of rerun --failed.
func resumeOnly(s *session) error {
	if !s.job.Store.Resume {
		return nil
	}
	last, err := s.state.Unfinished(s.job.Name)
	if err != nil || last == nil {
		return err
	}
	o, err := job.Decode(last)
	if err == nil {
		s.job = s.job.Only(o.Select.Only)
	}
	return err
}

// startRun makes the folder of this run, or takes over that of the interrupted one that --resume
// asks for.
func (s *session) startRun(id map[string]string, base outcome.Digest) error {
	options, err := job.Encode(&s.job.Options)
	if err != nil {
		return err
	}
	s.run, s.resumed, err = run.Begin(run.Start{
		State: s.state, Resume: s.job.Store.Resume, Note: s.events.Note, WordsOf: wordsOf,
		Info: state.Info{Command: s.job.Name, Started: s.began, Identity: id, Golden: base.String(), Options: options},
	})
	return err
}

// wordsOf returns the main command of an earlier run, or nil if it is unknown.
func wordsOf(r *state.Run) []string {
	o, err := job.Decode(r)
	if err != nil {
		return nil
	}
	return o.Command.Words
}

// dropRun removes a run that could not begin, unless it was resumed.
func (s *session) dropRun() error {
	r := s.run
	if !s.resumed {
		s.run = nil
	}
	return run.Drop(r, s.resumed)
}

// goesOn ends the error of an interrupted run.
func (s *session) goesOn() string {
	if s.ledger.Summary.Mixed {
		return "; --resume refuses this run, as its tool changed meanwhile"
	}
	return "; --resume goes on"
}
