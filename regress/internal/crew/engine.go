package crew

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
)

// Engine is a Crew on an engine of the Remote Execution API.
type Engine struct {
	o        Options
	conn     *reapi.Connection
	executor *reapi.Engine // the last one
	watch    watch
	runs     runCounter

	// ballast is never written to, so it takes no memory. The garbage collector counts it, and
	// runs as seldom as if the process held that much more. A large corpus has the same effect.
	ballast []byte
}

const (
	ballastSize = 32 << 20 // bytes
	ballastCase = 128      // bytes that a case of the corpus takes
)

// dial connects to the engine.
func dial(ctx context.Context, o Options) (_ *Engine, err error) {
	e := &Engine{o: o, watch: watch{emit: o.Emit, command: o.Command}}
	e.watch.begin("connecting to " + o.Engine.URL)
	if e.conn, err = reapi.Dial(ctx, o.Engine.dialOptions(o.Note)); err != nil {
		e.watch.end()
		return nil, err
	}
	e.watch.connected(e.conn)
	return e, nil
}

// Resolve implements Crew. The workers have the executable, unless it is sent along.
func (e *Engine) Resolve(words []string) (*exec.Command, error) {
	travels := e.o.Engine.Bundle || len(words) > 0 && !e.o.Shell && e.o.Engine.sendsFile(words[0])
	if travels {
		return exec.Resolve(words, e.o.Shell, e.o.Stdin)
	}
	return exec.ResolveRemote(words, e.o.Shell, e.o.Stdin)
}

// digestsFile remembers the digests of what travels, in the cache of the state folder.
const digestsFile = "remote-digests.json"

// Start implements Crew. It first runs the preflight of each command on the engine.
func (e *Engine) Start(ctx context.Context, s Setup) (exec.Executor, error) {
	if s.MemoryMax > 0 {
		e.o.Warn("--memory is not for engines: an engine limits its workers itself, perhaps by the key platform of [engine]")
	}
	if s.NoNetwork {
		e.o.Warn("--no-network is not for engines: they decide what a case may reach, perhaps by the key platform of [engine]")
	}
	e.ballast = make([]byte, max(0, ballastSize-ballastCase*len(s.Corpus.Cases())))
	at := &e.o.Engine
	outputs := outputs{patterns: at.Outputs, left: s.Left}
	started, err := reapi.Start(ctx, e.conn, reapi.Options{
		Corpus: s.Corpus, Commands: s.Commands, Later: s.Later,
		Setting: reapi.Setting{
			Env: s.Env, Platform: at.properties(),
			Timeout: s.Timeout, OutputMax: s.OutputMax, Outputs: outputs.of,
		},
		Jobs: at.Jobs, Inputs: at.Inputs, Exclude: s.Exclude, Bundle: at.Bundle, Preflight: at.Preflight,
		Cache: filepath.Join(s.Cache, digestsFile), Note: e.o.Note,
		Partial: func() error { return outputs.warnPartial(e.o.Warn) },
		Doing:   e.watch.begin,
	})
	if err != nil {
		e.watch.end()
		return nil, err
	}
	e.executor = started
	e.watch.running(started)
	e.watch.report() // the preparation is over
	return e.runs.count(started), nil
}

// uploadsPart says how many goroutines prepare and send the next cases: one for every uploadsPart executions.
const uploadsPart = 4

// Width implements Crew. Some goroutines prepare the next cases.
func (e *Engine) Width() Width {
	n := e.o.Engine.Jobs
	return Width{Jobs: n, Goroutines: n + (n+uploadsPart-1)/uploadsPart, Alone: true}
}

func (e *Engine) IsRemote() bool { return true }

// Account implements Crew. A run may resume on another engine, so the address does not identify it.
func (e *Engine) Account() Account {
	preflight := e.executor.PreflightDigest()
	id := map[string]string{
		"--remote":                   "an engine",
		"what travels to the engine": e.executor.SharedDigest().String(),
		"what the preflight gives":   preflight.String(),
	}
	for flag, list := range map[string][]string{"[engine] platform": slices.Sorted(slices.Values(e.o.Engine.Platform)), "[engine] output": e.o.Engine.Outputs} {
		if len(list) > 0 { // else the error of a run on this machine would name this key, not --remote
			id[flag] = fmt.Sprintf("%q", list)
		}
	}
	return Account{Identity: id, Preflight: preflight}
}

func (e *Engine) Sum() *regress.EngineRuns {
	r := e.runs.sum()
	r.Jobs = e.o.Engine.Jobs
	r.Sent, r.Received = e.conn.Traffic()
	return r
}

func (e *Engine) Quiet() { e.watch.end() }

func (e *Engine) Close() { e.conn.Close() }

// Commands are the resolved commands of a run.
type Commands struct {
	Main   *exec.Command // of the cases that no glob matches; nil if each case must match one
	ByGlob []GlobCommand // the first glob that matches a case counts
}

// GlobCommand is the command of the cases that a glob matches.
type GlobCommand struct {
	Glob    string
	Command *exec.Command
}

// ResolveCommands finds the executables. It refuses cases without a command.
func ResolveCommands(c Crew, words []string, byGlob []regress.GlobCommand, caseNames []string) (list Commands, err error) {
	if len(words) > 0 || len(byGlob) == 0 {
		if list.Main, err = c.Resolve(words); err != nil {
			return list, err
		}
	}
	for _, g := range byGlob {
		if _, err := glob.Match(g.Glob, "x"); err != nil {
			return list, err
		}
		resolved, err := c.Resolve(g.Words)
		if err != nil {
			return list, err
		}
		list.ByGlob = append(list.ByGlob, GlobCommand{g.Glob, resolved})
	}
	for _, one := range caseNames {
		if list.Main == nil && list.For(one) == nil {
			return list, fault.Inputf("no command for %s: none of the globs of [[commands]] matches it, and there is no command for the rest", name.Print(one))
		}
	}
	return list, nil
}

// For returns the command for a case.
func (c *Commands) For(caseName string) *exec.Command {
	for _, g := range c.ByGlob {
		if ok, err := glob.Match(g.Glob, caseName); err == nil && ok {
			return g.Command
		}
	}
	return c.Main
}

// All returns the commands.
func (c *Commands) All() (list []*exec.Command) {
	if c.Main != nil {
		list = append(list, c.Main)
	}
	for _, g := range c.ByGlob {
		list = append(list, g.Command)
	}
	return list
}

// Identify adds what must be the same to resume a run.
func (c *Commands) Identify(id map[string]string) {
	if c.Main != nil {
		IdentifyCommand("the command", c.Main, id)
	}
	for i, g := range c.ByGlob {
		what := "the command for " + g.Glob
		IdentifyCommand(what, g.Command, id)
		id[what+", its place"] = fmt.Sprint(i)
	}
}

// IdentifyCommand adds what must be the same of one command to resume a run.
func IdentifyCommand(what string, c *exec.Command, id map[string]string) {
	id[what] = fmt.Sprintf("%q", c.Words)
	if !c.IsLocal {
		id[what+"'s executable"] = c.Path // one of an engine's workers
	}
}

// Connect returns a crew: an engine if the options name one, else this machine.
func Connect(ctx context.Context, o Options) (Crew, error) {
	if o.Engine.URL == "" {
		return NewHere(o), nil
	}
	e, err := dial(ctx, o)
	if err != nil {
		return nil, err
	}
	return e, nil
}
