package regress

import (
	"context"

	"muster/regress/internal/crew"
	"muster/regress/internal/golden"
)

// connect connects to the engine, if one is to run the cases.
func (s *session) connect(ctx context.Context) error {
	c, err := crew.Connect(ctx, s.crewOptions())
	if err == nil {
		s.crew = c
	}
	return err
}

func (s *session) crewOptions() crew.Options {
	o := s.o
	return crew.Options{
		Command: s.name, Shell: o.Command.Shell, Stdin: o.Command.Stdin, Jobs: o.Limits.Jobs,
		Helper: o.Helper, StartExecutor: s.host.Executor, Engine: newEndpoint(o),
		Note: s.events.Note, Warn: s.events.Warn, Emit: s.events.Emit,
	}
}

// lanesForCases returns the number of lanes that the selected cases can use.
func (s *session) lanesForCases() int { return max(1, min(s.o.Limits.Jobs, len(s.in.Cases))) }

// setup returns what the session's crew runs. lanes counts on this machine only.
func (s *session) setup(lanes int) crew.Setup {
	o := s.o
	return crew.Setup{
		Corpus: s.in.Corpus, Commands: s.commands.All(), Env: caseEnvironment(&o.Command),
		Timeout: o.Limits.Timeout, Grace: o.Limits.Grace,
		MemoryMax: o.Limits.Memory, OutputMax: o.Limits.OutputMax, NoNetwork: o.Command.NoNetwork,
		Lanes: lanes, Exclude: listOwnFiles(o), Cache: s.state.Cache(),
	}
}

// startCrew starts the session's executor.
func (s *session) startCrew(ctx context.Context, setup crew.Setup) error {
	e, err := s.crew.Start(ctx, setup)
	if err == nil {
		s.executor = crew.ClassifyErrors(crew.IgnoreParts(e, s.ignored))
	}
	return err
}

func (s *session) closeCrew() error {
	if s.executor == nil {
		return nil
	}
	err := s.executor.Close()
	s.ledger.Summary.OwnCPU = crew.UsedCPU() - s.usedAt + s.executor.OwnCPU()
	s.executor = nil
	return err
}

// jobs returns how many cases run at once; 0 is one, without a pool.
func (s *session) jobs() int { return s.crew.Width().Jobs }

// goroutines returns how many goroutines work on cases.
func (s *session) goroutines() int { return s.crew.Width().Goroutines }

// newSettler returns a Settler for runs that are compared with a golden.
func newSettler(s *session, base *golden.Store) crew.Settler {
	if !s.crew.IsRemote() && !base.Meta().OnEngine() {
		return crew.Settler{}
	}
	return crew.NewSettler(base.Get)
}
