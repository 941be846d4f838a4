package reapi

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/outcome"
)

// Options say what is to run on an engine. Corpus, Setting and Partial must be set; all else
// may be left out.
type Options struct {
	Corpus   *corpus.Corpus
	Commands []*exec.Command // that will run: each must pass its preflight before the first case does
	Later    []*exec.Command // that may run: they have theirs when they do
	Setting  Setting
	Jobs     int      // executions at once
	Inputs   []string // files and folders that travel along
	Exclude  []string // files and folders that do not, though they lie in those
	Bundle   bool     // so do the commands' executables, with their libraries
	Cache    string   // a file that remembers digests of what travels; "" = none
	// Preflight is what runs before the cases, with the name of a command or a path on the
	// workers at its beginning; nil = COMMAND --version.
	Preflight []string
	Note      func(string) // hears once what the user may want to know
	Doing     func(string) // hears what is done before the first case, as it begins
	Partial   func() error // called once where the engine does not give back the whole work folder; its error ends Start
}

// backlogPart is for how many executions one more case may wait.
const backlogPart = 8

// Engine runs cases on an engine of the Remote Execution API. It is an exec.Executor.
type Engine struct {
	o         Options
	client    *client.Client
	shared    *sharedInputs
	slots     *semaphore.Weighted // of executions: Options.Jobs
	exclusion *semaphore.Weighted // what is uploaded and executed: many together, or one alone
	stages    stages
	backlog   backlog
	lookups   lookupPolicy

	mu         sync.Mutex // held while a command is made ready, and guards what follows
	commands   map[*exec.Command]*preparedCommand
	whole      wholePath // noWholePath: a file that nobody named is not seen
	wholeKnown bool
}

var _ exec.Executor = (*Engine)(nil)

// Start reads what all cases are given, sends it, and has the commands show that they run
// on the engine. An error says in the words of the engine or the tool why one does not.
func (c *Connection) Start(ctx context.Context, o Options) (*Engine, error) {
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	e := &Engine{
		o: o, client: c.client, slots: semaphore.NewWeighted(int64(max(1, o.Jobs))), exclusion: semaphore.NewWeighted(exclusiveWeight),
		backlog: backlog{limit: o.Jobs / backlogPart}, commands: map[*exec.Command]*preparedCommand{},
	}
	var err error
	o.Doing("reading what all cases are given")
	if e.shared, err = readSharedInputs(ctx, o.Corpus); err != nil {
		return nil, err
	}
	for _, command := range o.Commands {
		if _, err := e.builderFor(ctx, command); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// PreflightDigest is of what the preflights of Options.Commands gave, which mostly is a version.
func (e *Engine) PreflightDigest() outcome.Digest {
	return e.digestOf(func(c *preparedCommand) outcome.Digest { return c.preflight })
}

// SharedDigest is of what all cases are given: their files, and what travels along.
func (e *Engine) SharedDigest() outcome.Digest {
	return e.digestOf(func(c *preparedCommand) outcome.Digest { return c.builder.root.Digest().Hash })
}

// digestOf is of what each of Options.Commands has, in their order.
func (e *Engine) digestOf(what func(*preparedCommand) outcome.Digest) outcome.Digest {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []byte
	for _, c := range e.o.Commands {
		d := what(e.commands[c])
		all = append(all, d[:]...)
	}
	return outcome.Of(all)
}

// Floor is 0: what engines say of memory is the command's alone.
func (e *Engine) Floor() int64 { return 0 }

// OwnCPU is 0: there are no other processes here.
func (e *Engine) OwnCPU() time.Duration { return 0 }

// Close is for the interface's sake: the connection is its opener's.
func (e *Engine) Close() error { return nil }

// RunAll runs the first job alone: an engine has its own queue.
func (e *Engine) RunAll(ctx context.Context, b exec.Batch) int {
	b.Started(0)
	r, err := e.Run(ctx, b.Jobs[0])
	b.Ended(0, r, err)
	return 1
}

// Run has a case executed, unless the engine knows what comes of it and the job may have
// that. Contents of the result are opened on the engine, with ctx.
func (e *Engine) Run(ctx context.Context, job exec.Job) (*exec.Result, error) {
	builder, err := e.builderFor(ctx, job.Command)
	if err != nil {
		return nil, err
	}
	if err := e.backlog.wait(ctx); err != nil {
		return nil, err
	}
	a, err := builder.build(job)
	if err != nil {
		return nil, err
	}
	run := &actionRun{engine: e, builder: builder, action: a}
	return run.result(ctx, job.Fresh)
}

// isCommand reports whether a word is how a command of the run is given.
func (e *Engine) isCommand(word string) bool {
	is := func(c *exec.Command) bool { return c.Words[0] == word }
	return slices.ContainsFunc(e.o.Commands, is) || slices.ContainsFunc(e.o.Later, is)
}
