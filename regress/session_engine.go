package regress

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

// engine is the one on which a session's cases run, from the connection on. The session's
// owner owns it. Its methods are fit for nil, which is this machine's; those that start it
// are the session's.
type engine struct {
	conn  *reapi.Connection
	crew  *reapi.Engine                  // the session's crew; nil before it is started
	also  []*exec.Command                // that run beside the session's own
	later []*exec.Command                // that may run
	left  func(caseName string) []string // names that a case is known to leave; nil = none is
	watch engineWatch

	telling sync.Mutex // guards runs
	runs    report.EngineSum

	// ballast is never written to, so it takes no memory. The garbage collector counts it, and
	// comes as seldom to a run that holds little as if it held that much more.
	ballast []byte
}

const ballastSize = 32 << 20 // bytes

// connect connects to the engine, if one is to run the cases.
func (s *session) connect(ctx context.Context) (err error) {
	if s.o.Remote.URL == "" || s.engine != nil {
		return nil
	}
	e := &engine{ballast: make([]byte, ballastSize)}
	e.watch.begin(s, "connecting to "+s.o.Remote.URL)
	at := newEndpoint(s.o)
	at.Note = s.events.Note
	if e.conn, err = reapi.Dial(ctx, at); err == nil {
		e.watch.connected(e.conn)
		s.engine = e
		return nil
	}
	e.quiet()
	if s.o.Remote.Fallback && reapi.Unreachable(err) && ctx.Err() == nil {
		s.events.Warn(fmt.Sprintf("%v: by --remote-fallback the cases run on this machine", err))
		return nil
	}
	return err
}

// executable finds the executable of a command: here, unless it is one of the engine's workers.
func (s *session) executable(words []string) (*exec.Command, error) {
	c, r := &s.o.Command, &s.o.Remote
	travels := r.Bundle || len(words) > 0 && !c.Shell && bringsFile(r, words[0])
	if s.engine != nil && !travels {
		return exec.Elsewhere(words, c.Shell, c.Stdin)
	}
	return exec.Resolve(words, c.Shell, c.Stdin)
}

// alsoRuns is called before it starts.
func (e *engine) alsoRuns(c *exec.Command) {
	if e != nil {
		e.also = append(e.also, c)
	}
}

// mayRun is alsoRuns for commands of which few cases run, perhaps none.
func (e *engine) mayRun(commands []*exec.Command) {
	if e != nil {
		e.later = commands
	}
}

// digestsFile remembers the digests of what travels, in the cache of the state folder.
const digestsFile = "remote-digests.json"

// startEngine has the commands show that they run on the engine.
func (s *session) startEngine(ctx context.Context) error {
	o, r := s.o, &s.o.Remote
	if o.Limits.Memory > 0 {
		s.events.Warn("--memory is not for engines: what a case may take is theirs to say, by --platform perhaps")
	}
	if o.Command.NoNetwork {
		s.events.Warn("--no-network is not for engines: they decide what a case may reach, perhaps by --platform")
	}
	e := s.engine
	crew, err := e.conn.Start(ctx, reapi.Options{
		Corpus: s.corpus, Commands: slices.Concat(s.command.all(), e.also), Later: e.later,
		Setting: reapi.Setting{
			Env: caseEnvironment(&o.Command), Platform: parseProperties(r),
			Timeout: o.Limits.Timeout, OutputMax: o.Limits.OutputMax, Outputs: s.outputsOf,
		},
		Jobs: countRemoteJobs(r), Inputs: r.Inputs, Exclude: listOwnFiles(o), Bundle: r.Bundle, Preflight: r.Preflight,
		Cache: filepath.Join(s.state.Cache(), digestsFile), Note: s.events.Note, Partial: s.partial,
		Doing: func(what string) { e.watch.begin(s, what) },
	})
	if err != nil {
		e.quiet()
		return err
	}
	s.crew, e.crew = crew, crew
	e.watch.running(crew)
	e.watch.tell() // that what was done before is over
	return nil
}

// quiet returns when nothing more will be told of how it stands with it.
func (e *engine) quiet() {
	if e != nil {
		e.watch.end()
	}
}

func (e *engine) close() {
	if e != nil {
		e.conn.Close()
	}
}

// uploadsPart is for how many executions one more case is made ready and sent meanwhile.
const uploadsPart = 4

// jobs is how many cases run at once; 0 is one, without a pool.
func (s *session) jobs() int {
	if s.engine == nil {
		return s.o.Limits.Jobs
	}
	return countRemoteJobs(&s.o.Remote)
}

// goroutines is how many work on cases: on an engine some make the next ones ready.
func (s *session) goroutines() int {
	n := s.jobs()
	if s.engine != nil {
		n += (n + uploadsPart - 1) / uploadsPart
	}
	return n
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
	id["what travels to the engine"] = s.engine.crew.SharedDigest().String()
	id["what --preflight gives"] = s.engine.crew.PreflightDigest().String()
}

// notForEngines refuses what an engine cannot tell.
func (s *session) notForEngines() error {
	if s.engine != nil && len(s.o.Judge.FailOn) > 0 {
		return fault.Inputf("--fail-on %s: the workers of an engine differ, so what a change costs cannot be told there: leave it out, or run without --remote", s.o.Judge.FailOn[0])
	}
	return nil
}
