package regress

import (
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
)

// resumeOnly takes over the cases that the run to be resumed was restricted to,
// by rerun --failed: no flag says that again.
func (s *session) resumeOnly() error {
	if !s.o.Store.Resume {
		return nil
	}
	last, err := s.state.Unfinished(s.name)
	if err != nil || last == nil {
		return err
	}
	o, err := optionsOf(last)
	if err == nil {
		s.o.Select.Only = o.Select.Only
	}
	return err
}

// startRun makes the folder of this run, or takes over that of the interrupted
// one that --resume asks for.
func (s *session) startRun(id map[string]string, base outcome.Digest) error {
	if s.o.Store.Resume {
		last, err := s.state.Unfinished(s.name)
		if err != nil {
			return err
		}
		if last != nil {
			was, now := withoutFiles(last.Identity), withoutFiles(id)
			if what := differsIn(was, now); what != "" {
				return notAsItWas(what, last)
			}
			if err := refuseChangedTool(last.Identity, id, last.ID); err != nil {
				return err
			}
			s.run, s.resumed = last, true
			// What may differ, such as --jobs, is as it is now.
			if s.run.Options, err = encodeOptions(s.o); err != nil {
				return err
			}
			return s.run.Save()
		}
		s.events.Note("--resume: no " + s.name + " was interrupted, so this one begins anew")
	}
	info := state.Info{Command: s.name, Started: s.began, Identity: id, Golden: base.String()}
	var err error
	if info.Options, err = encodeOptions(s.o); err != nil {
		return err
	}
	s.run, err = s.state.NewRun(info)
	return err
}

// dropRun removes a run that could not begin: as the last one it would stand before
// the last that did, for accept, show and rerun. One that is resumed stays.
func (s *session) dropRun() error {
	if s.run == nil || s.resumed {
		return nil
	}
	run := s.run
	s.run = nil
	return run.Remove()
}

func notAsItWas(what string, last *state.Run) error {
	run := last.ID
	if what == whileItRan {
		return fault.Inputf("--resume: in run %s, %s, so its cases may be of two tools: run without --resume", run, last.Identity[what])
	}
	if strings.HasPrefix(what, fileOf) {
		return fault.Inputf("--resume: %s was written to or replaced since run %s began, and may have had other content meanwhile: run without --resume", what, run)
	}
	mend := ""
	if o, err := optionsOf(last); what == "the command" && err == nil && len(o.Command.Words) > 0 {
		mend = ": -- " + readable.Line(name.QuoteAll(o.Command.Words))
	}
	return fault.Inputf("--resume: %s is not what it was in run %s: run without --resume, or put it back%s", what, run, mend)
}

// goesOn ends the error of an interrupted run.
func (s *session) goesOn() string {
	if s.ledger.Summary.Mixed {
		return "; --resume refuses this run, as its tool changed meanwhile"
	}
	return "; --resume goes on"
}
