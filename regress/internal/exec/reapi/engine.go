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
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/outcome"
)

// Place says where an engine is, who asks, and how patiently.
type Place = client.Options

// Header is a line that goes with every request.
type Header = client.Header

// Property is one of what a worker must have.
type Property = tree.Property

// Connection is a connection to an engine, for one run after another.
type Connection struct{ client *client.Client }

// Dial connects. Its error is of class Input for what is wrong in the place, and of class
// Environment where the engine cannot be reached or lacks something.
func Dial(ctx context.Context, p Place) (*Connection, error) {
	c, err := client.Dial(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Connection{c}, nil
}

// Traffic is how many bytes went to the engine and came from it, by all of its runs.
func (c *Connection) Traffic() (sent, received int64) { return c.client.Traffic() }

// Unreachable reports whether Dial failed because there is no engine that answers.
func Unreachable(err error) bool { return client.Unreachable(err) }

// Close gives up the connection. No engine of it may be in use.
func (c *Connection) Close() { c.client.Close() }

// Options say what is to run on an engine. Corpus, Setting and Partial must be set; all else
// may be left out.
type Options struct {
	Corpus   *corpus.Corpus
	Commands []*exec.Command // that will run: each must pass its preflight before the first case does
	Later    []*exec.Command // that may run: they have theirs when they do
	Setting  Setting         // Whole and Before21 are found out
	Jobs     int             // executions at once
	Inputs   []string        // files and folders that travel along
	Exclude  []string        // files and folders that do not, though they lie in those
	Bundle   bool            // so do the commands' executables, with their libraries
	Cache    string          // a file that remembers digests of what travels; "" = none
	// Preflight is what runs before the cases, with the name of a command or a path on the
	// workers at its beginning; nil = COMMAND --version.
	Preflight []string
	Note      func(string) // hears once what the user may want to know
	Doing     func(string) // hears what is done before the first case, as it begins
	Partial   func() error // called once where the engine does not give back the whole work folder; its error ends Start
}

// aheadPart is for how many executions one more case is enough to have ready.
const aheadPart = 8

// Engine runs cases on an engine of the Remote Execution API. It is an exec.Executor.
type Engine struct {
	o         Options
	client    *client.Client
	given     *Given
	executing *semaphore.Weighted
	room      *semaphore.Weighted // what is sent and executed, or one alone
	stages    stages
	ahead     ahead
	asking    asking

	mu       sync.Mutex // held while a command is made ready
	commands map[*exec.Command]*ready
	whole    Whole
	known    bool // whole is
	digests  []outcome.Digest
}

var _ exec.Executor = (*Engine)(nil)

// ready is a command that has passed its preflight, or why it has not.
type ready struct {
	actions *Actions
	err     error
}

// Start reads what all cases are given, sends it, and has the commands show that they run
// on the engine. An error says in the words of the engine or the tool why one does not.
func (c *Connection) Start(ctx context.Context, o Options) (*Engine, error) {
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	e := &Engine{
		o: o, client: c.client, executing: semaphore.NewWeighted(int64(max(1, o.Jobs))), room: semaphore.NewWeighted(roomMax),
		ahead: ahead{enough: o.Jobs / aheadPart}, commands: map[*exec.Command]*ready{},
	}
	e.o.Setting.Before21 = c.client.Before21()
	var err error
	o.Doing("reading what all cases are given")
	if e.given, err = ReadGiven(ctx, o.Corpus); err != nil {
		return nil, err
	}
	for _, command := range o.Commands {
		if _, err := e.actionsFor(ctx, command); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Preflight is a digest of what the commands' preflights gave, which mostly is a version.
func (e *Engine) Preflight() outcome.Digest {
	var all []byte
	for _, d := range e.digests {
		all = append(all, d[:]...)
	}
	return outcome.Of(all)
}

// Shared is a digest of what all cases are given: their files, and what travels along.
func (e *Engine) Shared() outcome.Digest {
	var all []byte
	for _, c := range e.o.Commands {
		root := e.commands[c].actions.root.Digest().Hash
		all = append(all, root[:]...)
	}
	return outcome.Of(all)
}

// Whole reports whether the engine gives back the whole work folder: else a file that
// nobody named is not seen.
func (e *Engine) Whole() bool { return e.whole != NotWhole }

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
	actions, err := e.actionsFor(ctx, job.Command)
	if err != nil {
		return nil, err
	}
	if err := e.ahead.pass(ctx); err != nil {
		return nil, err
	}
	a, err := actions.Of(job)
	if err != nil {
		return nil, err
	}
	x := &execution{engine: e, shared: actions, action: a}
	return x.result(ctx, job.Fresh)
}

// names reports whether a word is how a command of the run is given.
func (e *Engine) names(word string) bool {
	is := func(c *exec.Command) bool { return c.Words[0] == word }
	return slices.ContainsFunc(e.o.Commands, is) || slices.ContainsFunc(e.o.Later, is)
}
