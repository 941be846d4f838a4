package run

import (
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/closure"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/sample"
	"muster/regress/internal/state"
)

// Begin makes the folder of the run, or takes over the folder of the interrupted run of the command
// that --resume asks for. It refuses to resume a run with another identity.
func (r *Run) Begin(id map[string]string, base outcome.Digest) (err error) {
	info := state.Info{Command: r.Job.Name, Started: r.Began, Identity: id, Golden: base.String()}
	if info.Options, err = job.Encode(&r.Job.Options); err != nil {
		return err
	}
	if r.Job.Store.Resume {
		last, err := r.State.Unfinished(r.Job.Name)
		if err != nil {
			return err
		}
		if last != nil {
			return r.resume(last, info)
		}
		r.Events.Note("--resume: no " + r.Job.Name + " was interrupted, so this one begins anew")
	}
	r.Folder, err = r.State.NewRun(info)
	return err
}

func (r *Run) resume(last *state.Run, info state.Info) error {
	was, now := withoutTool(last.Identity), withoutTool(info.Identity)
	if key := FirstDifference(was, now); key != "" {
		return refuseResume(last, key)
	}
	if err := refuseChangedTool(last.Identity, info.Identity, last.ID); err != nil {
		return err
	}
	r.Folder, r.Resumed = last, true
	last.Options = info.Options // what may differ, such as --jobs, is as it is now
	return last.Save()
}

// Drop removes the folder of a run that could not begin, so that accept, show and rerun do not take
// it for the last run. It leaves the folder of a resumed run.
func (r *Run) Drop() error {
	if r.Folder == nil || r.Resumed {
		return nil
	}
	folder := r.Folder
	r.Folder = nil
	return folder.Remove()
}

// NewSample prepares to run a sample of finished cases again. On an engine no sample is needed:
// the preflight detects another tool.
func NewSample(r *Run, m golden.Meta, retries int) *sample.Sample {
	return sample.New(sample.Options{
		Run: r.Folder, Meta: m, Executor: r.Execution.Executor, Goroutines: r.Width().Goroutines,
		Comparer: r.Comparer, Retries: retries, Note: r.Events.Note,
	})
}

// refuseResume returns the error for a run whose identity differs in a key.
func refuseResume(last *state.Run, key string) error {
	if key == mixedKey {
		return fault.Inputf("--resume: in run %s, %s, so its cases may be of two tools: run without --resume", last.ID, last.Identity[key])
	}
	if strings.HasPrefix(key, stampOf) {
		return fault.Inputf("--resume: %s was written to or replaced since run %s began, and may have had other content meanwhile: run without --resume", key, last.ID)
	}
	mend := ""
	if key == "the command" {
		if o, err := job.Decode(last); err == nil && len(o.Command.Words) > 0 {
			mend = ": -- " + readable.Line(name.QuoteAll(o.Command.Words))
		}
	}
	return fault.Inputf("--resume: %s is not what it was in run %s: run without --resume, or put it back%s", key, last.ID, mend)
}

// refuseChangedTool refuses to resume a run if a file or a place of the tool changed since. It looks
// for another content first, then for a file that was replaced by an equal one.
func refuseChangedTool(was, now map[string]string, run string) error {
	of := func(id map[string]string, prefix string, value func(string) string) map[string]string {
		list := map[string]string{}
		for key, v := range id {
			if path, ok := strings.CutPrefix(key, prefix); ok {
				list[path] = value(v)
			}
		}
		return list
	}
	whole := func(value string) string { return value }
	path := FirstDifference(of(was, toolFile, digestOf), of(now, toolFile, digestOf))
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
	if path = FirstDifference(of(was, toolPlace, whole), of(now, toolPlace, whole)); path != "" {
		move := closure.DescribeMove(strings.TrimPrefix(was[toolPlace+path], listed), strings.TrimPrefix(now[toolPlace+path], listed))
		return fault.Inputf("--resume: %s, where the tool looked in run %s, changed (%s)"+mend, path, run, move)
	}
	if path = FirstDifference(of(was, toolFile, whole), of(now, toolFile, whole)); path != "" {
		return fault.Inputf("--resume: %s, a file of the tool, was written to or replaced since run %s began, and may have had other content meanwhile"+mend, path, run)
	}
	return nil
}
