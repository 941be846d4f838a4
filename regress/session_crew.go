package regress

import (
	"muster/regress/internal/crew"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
)

// crewOptions returns the options of the crew.
func crewOptions(s *session) crew.Options {
	o := &s.job.Options
	return crew.Options{
		Command: s.job.Name, Shell: o.Command.Shell, Stdin: o.Command.Stdin, Jobs: o.Limits.Jobs,
		Helper: o.Helper, StartExecutor: s.host.Executor, Engine: newEndpoint(o),
		Note: s.events.Note, Warn: s.events.Warn, Emit: s.events.Emit,
	}
}

// newSetup returns what the executor runs: the selected cases, on as many lanes of this machine as
// they can use.
func newSetup(s *session) crew.Setup {
	o := &s.job.Options
	return crew.Setup{
		Corpus: s.in.Corpus, Commands: s.exec.Commands.All(), Env: job.Environment(&o.Command),
		Timeout: o.Limits.Timeout, Grace: o.Limits.Grace,
		MemoryMax: o.Limits.Memory, OutputMax: o.Limits.OutputMax, NoNetwork: o.Command.NoNetwork,
		Lanes: max(1, min(o.Limits.Jobs, len(s.in.Cases))), Exclude: listOwnFiles(o), Cache: s.state.Cache(),
	}
}

// newSettler returns a Settler for runs that are compared with a golden.
func newSettler(s *session, base *golden.Store) crew.Settler {
	if !s.exec.Crew.IsRemote() && !base.Meta().OnEngine() {
		return crew.Settler{}
	}
	return crew.NewSettler(base.Get)
}
