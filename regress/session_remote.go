package regress

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// connect connects to the engine, if one is to run the cases.
func (s *session) connect(ctx context.Context) (err error) {
	if s.o.Remote.URL == "" || s.conn != nil {
		return nil
	}
	s.watch.begin(s, "connecting to "+s.o.Remote.URL)
	at := s.o.place()
	at.Note = s.note
	if s.conn, err = reapi.Dial(ctx, at); err == nil {
		s.watch.connected(s.conn)
		return nil
	}
	s.watch.end()
	if s.o.Remote.Fallback && reapi.Unreachable(err) && ctx.Err() == nil {
		s.warn(fmt.Sprintf("%v: by --remote-fallback the cases run on this machine", err))
		return nil
	}
	return err
}

// executable finds the executable of a command: here, unless it is one of the engine's workers.
func (s *session) executable(words []string) (*exec.Command, error) {
	c, r := &s.o.Command, &s.o.Remote
	travels := r.Bundle || len(words) > 0 && !c.Shell && r.brings(words[0])
	if s.conn != nil && !travels {
		return exec.Elsewhere(words, c.Shell, c.Stdin)
	}
	return exec.Resolve(words, c.Shell, c.Stdin)
}

// digestsFile remembers the digests of what travels, in the cache of the state folder.
const digestsFile = "remote-digests.json"

// startEngine has the commands show that they run on the engine.
func (s *session) startEngine(ctx context.Context) error {
	o, r := s.o, &s.o.Remote
	if o.Limits.Memory > 0 {
		s.warn("--memory is not for engines: what a case may take is theirs to say, by --platform perhaps")
	}
	s.watch.connected(s.conn)
	e, err := s.conn.Start(ctx, reapi.Options{
		Corpus: s.corpus, Commands: slices.Concat(s.command.all(), s.alongside), Later: s.later,
		Setting: reapi.Setting{
			Env: o.Command.environment(), Platform: r.properties(),
			Timeout: o.Limits.Timeout, OutputMax: o.Limits.OutputMax, Outputs: s.outputsOf,
		},
		Jobs: r.jobs(), Inputs: r.Inputs, Exclude: o.ownFiles(), Bundle: r.Bundle, Preflight: r.Preflight,
		Cache: filepath.Join(s.state.Cache(), digestsFile), Note: s.note, Partial: s.partial,
		Doing: func(what string) { s.watch.begin(s, what) },
	})
	if err != nil {
		s.watch.end()
		return err
	}
	s.crew, s.engine = e, e
	s.watch.running(e)
	s.watch.tell() // that what was done before is over
	return nil
}

// uploadsPart is for how many executions one more case is made ready and sent meanwhile.
const uploadsPart = 4

// jobs is how many goroutines work on cases; 0 is one, without a pool.
func (s *session) jobs() int {
	if s.conn == nil {
		return s.o.Limits.Jobs
	}
	n := s.o.Remote.jobs()
	return n + (n+uploadsPart-1)/uploadsPart
}

// atOnce is how many cases run at once.
func (s *session) atOnce() int {
	if s.conn == nil {
		return s.o.Limits.Jobs
	}
	return s.o.Remote.jobs()
}

// identifyEngine adds what must be the same on an engine to go on with a run. Where it is
// does not matter.
func (s *session) identifyEngine(id map[string]string) {
	if s.engine == nil {
		return
	}
	id["--remote"] = "an engine"
	for flag, list := range map[string][]string{"--platform": slices.Sorted(slices.Values(s.o.Remote.Platform)), "--remote-output": s.o.Remote.Outputs} {
		if len(list) > 0 { // else a run on this machine would be told of it, and not of --remote
			id[flag] = fmt.Sprintf("%q", list)
		}
	}
	id["what travels to the engine"] = s.engine.SharedDigest().String()
	id["what --preflight gives"] = s.engine.PreflightDigest().String()
}

// remoteOf is what the engine said of a run; nil of one on this machine.
func remoteOf(r *exec.Result) *report.Remote {
	if r.Remote == nil {
		return nil
	}
	return (*report.Remote)(r.Remote)
}

// tellRan counts a run on an engine. Any goroutine may call it.
func (s *session) tellRan(t task, r *exec.Result) {
	if r == nil || r.Remote == nil {
		return
	}
	s.engineTold.Lock()
	defer s.engineTold.Unlock()
	s.engineRuns.Add(t.entry.Name, remoteOf(r), time.Now())
}

// engineSummary is what all runs on the engine came to.
func (s *session) engineSummary() *report.Runs {
	s.engineTold.Lock()
	defer s.engineTold.Unlock()
	r := s.engineRuns.Runs()
	r.Jobs = s.atOnce()
	r.Sent, r.Received = s.conn.Traffic()
	return r
}

// keptRemote is the same as --resume finds it.
func keptRemote(r *report.Remote) *state.Remote {
	if r == nil {
		return nil
	}
	return &state.Remote{
		Cached: r.Cached, Worker: name.Print(r.Worker), Queued: int64(r.Queued), QueueTold: r.QueueTold, Ran: int64(r.Ran),
		Measured: r.Measured, Asked: int64(r.Asked),
	}
}

func remoteIn(r *state.Remote) *report.Remote {
	if r == nil {
		return nil
	}
	worker, err := name.Parse(r.Worker)
	if err != nil {
		worker = r.Worker
	}
	return &report.Remote{
		Cached: r.Cached, Worker: worker, Queued: time.Duration(r.Queued), QueueTold: r.QueueTold, Ran: time.Duration(r.Ran),
		Measured: r.Measured, Asked: time.Duration(r.Asked),
	}
}

// filesLeft returns which files a golden knows that a case leaves.
func filesLeft(g *golden.Store) func(caseName string) []string {
	return func(caseName string) (names []string) {
		rec, _, err := g.Get(caseName)
		if err != nil {
			return nil // the comparison says so
		}
		for _, p := range rec.Outcome.Parts {
			if p.Place == outcome.File {
				names = append(names, p.Path)
			}
		}
		return names
	}
}

// notForEngines refuses what an engine cannot tell.
func (s *session) notForEngines() error {
	if s.conn != nil && len(s.o.Judge.FailOn) > 0 {
		return fault.Inputf("--fail-on %s: the workers of an engine differ, so what a change costs cannot be told there: leave it out, or run without --remote", s.o.Judge.FailOn[0])
	}
	return nil
}
