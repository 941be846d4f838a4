package run

import (
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/state"
)

// Start says how a run begins.
type Start struct {
	State  *state.State
	Info   state.Info // of a new run
	Resume bool       // resume the last interrupted run of the command, if there is one
	// WordsOf returns the main command of an earlier run, for an error.
	WordsOf func(*state.Run) []string
	Note    func(string)
}

// Begin makes the folder of a new run, or takes over that of an interrupted one. It refuses to
// resume a run if its identity is not that of s.Info.
func Begin(s Start) (r *state.Run, resumed bool, err error) {
	if s.Resume {
		last, err := s.State.Unfinished(s.Info.Command)
		if err != nil {
			return nil, false, err
		}
		if last != nil {
			if err := s.refuseOther(last); err != nil {
				return nil, false, err
			}
			last.Options = s.Info.Options // what may differ, such as --jobs, is as it is now
			return last, true, last.Save()
		}
		s.Note("--resume: no " + s.Info.Command + " was interrupted, so this one begins anew")
	}
	r, err = s.State.NewRun(s.Info)
	return r, false, err
}

// Drop removes a run that could not begin, so that accept, show and rerun do not take it for the
// last run. It leaves a resumed run.
func Drop(r *state.Run, resumed bool) error {
	if r == nil || resumed {
		return nil
	}
	return r.Remove()
}

// refuseOther refuses to resume a run that has another identity.
func (s *Start) refuseOther(last *state.Run) error {
	was, now := withoutTool(last.Identity), withoutTool(s.Info.Identity)
	if key := FirstDifference(was, now); key != "" {
		return s.refuse(last, key)
	}
	return refuseChangedTool(last.Identity, s.Info.Identity, last.ID)
}

func (s *Start) refuse(last *state.Run, key string) error {
	if key == mixedKey {
		return fault.Inputf("--resume: in run %s, %s, so its cases may be of two tools: run without --resume", last.ID, last.Identity[key])
	}
	if strings.HasPrefix(key, stampOf) {
		return fault.Inputf("--resume: %s was written to or replaced since run %s began, and may have had other content meanwhile: run without --resume", key, last.ID)
	}
	mend := ""
	if key == "the command" {
		if words := s.WordsOf(last); len(words) > 0 {
			mend = ": -- " + readable.Line(name.QuoteAll(words))
		}
	}
	return fault.Inputf("--resume: %s is not what it was in run %s: run without --resume, or put it back%s", key, last.ID, mend)
}

// refuseChangedTool refuses to resume a run if a file of the tool changed since. It looks for
// another content first, then for a file that was replaced by an equal one.
func refuseChangedTool(was, now map[string]string, run string) error {
	files := func(id map[string]string, of func(string) string) map[string]string {
		list := map[string]string{}
		for key, value := range id {
			if path, ok := strings.CutPrefix(key, toolFile); ok {
				list[path] = of(value)
			}
		}
		return list
	}
	path := FirstDifference(files(was, digestOf), files(now, digestOf))
	_, known := was[toolFile+path]
	_, found := now[toolFile+path]
	const mend = ": run without --resume"
	switch {
	case path == "":
	case !known:
		return fault.Inputf("--resume: %s is a file of the tool now, and was not one in run %s"+mend, path, run)
	case !found:
		return fault.Inputf("--resume: %s, a file of the tool in run %s, is gone, or another file is found in its place"+mend, path, run)
	default:
		return fault.Inputf("--resume: %s, a file of the tool, is not what it was in run %s"+mend, path, run)
	}
	whole := func(value string) string { return value }
	if path = FirstDifference(files(was, whole), files(now, whole)); path != "" {
		return fault.Inputf("--resume: %s, a file of the tool, was written to or replaced since run %s began, and may have had other content meanwhile"+mend, path, run)
	}
	return nil
}
