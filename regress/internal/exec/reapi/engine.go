// Package reapi runs cases on an engine of the Remote Execution API, version 2.
//
// It must not decide which cases run, how often, or what an outcome means. Only this package
// and those below it know gRPC and the messages of that API.
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

// Options describe what runs on an engine. Corpus, Setting and Partial are required.
type Options struct {
	Corpus   *corpus.Corpus
	Commands []*exec.Command // commands of the run: each must pass its preflight before the first case
	Later    []*exec.Command // further commands that may run: each has its preflight when it does
	Setting  Setting
	Jobs     int      // executions at once
	Inputs   []string // files and folders that travel with the cases
	Exclude  []string // files and folders within Inputs that do not travel
	Bundle   bool     // whether the commands' executables travel with their libraries
	Cache    string   // file that caches the digests of inputs; "" = none
	// Preflight is the command that runs before the cases. It begins with the name of a command
	// or a path on the workers. nil = COMMAND --version.
	Preflight []string
	Note      func(string) // receives each note for the user once
	Doing     func(string) // receives each step of the preparation as it begins
	Partial   func() error // called once if the engine does not return the whole work folder; its error ends Start
}

// backlogPart is the number of executions for which one more case may wait.
const backlogPart = 8

// Engine runs cases on an engine of the Remote Execution API. It is an exec.Executor.
type Engine struct {
	o       Options
	client  *client.Client
	shared  *sharedInputs
	slots   *semaphore.Weighted // bounds executions: Options.Jobs
	stages  stages
	backlog backlog
	lookups lookupPolicy

	mu         sync.Mutex // held while a command is prepared; guards the fields below
	commands   map[*exec.Command]*preparedCommand
	whole      wholePath // noWholePath: files that nobody named are not seen
	wholeKnown bool
}

var _ exec.Executor = (*Engine)(nil)

// Start reads and sends what all cases share, and runs the preflights of the commands. If one
// fails, the error has the words of the engine or the tool.
func Start(ctx context.Context, c *Connection, o Options) (*Engine, error) {
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	e := &Engine{
		o: o, client: c, slots: semaphore.NewWeighted(int64(max(1, o.Jobs))),
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

// PreflightDigest returns the digest of what the preflights of Options.Commands printed,
// usually a version.
func (e *Engine) PreflightDigest() outcome.Digest {
	return e.digestOf(func(c *preparedCommand) outcome.Digest { return c.preflight })
}

// SharedDigest returns the digest of what all cases get: shared files and inputs.
func (e *Engine) SharedDigest() outcome.Digest {
	return e.digestOf(func(c *preparedCommand) outcome.Digest { return c.builder.root.Digest().Hash })
}

// digestOf returns the digest of some digests, one for each of Options.Commands, in their
// order.
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

// Floor returns 0: engines report the memory of the command alone.
func (e *Engine) Floor() int64 { return 0 }

// OwnCPU returns 0: there are no helper processes here.
func (e *Engine) OwnCPU() time.Duration { return 0 }

// Close does nothing: whoever opened the connection closes it.
func (e *Engine) Close() error { return nil }

// RunAll runs only the first job, because an engine has its own queue.
func (e *Engine) RunAll(ctx context.Context, b exec.Batch) int {
	b.Started(0)
	r, err := e.run(ctx, b.Jobs[0])
	b.Ended(0, r, err)
	return 1
}

// run executes a case. If the job allows it, the result may come from the engine's cache.
// Opening the contents of the result uses ctx.
func (e *Engine) run(ctx context.Context, job exec.Job) (*exec.Result, error) {
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

// isCommand reports whether a word names the executable of a command.
func (e *Engine) isCommand(word string) bool {
	is := func(c *exec.Command) bool { return c.Words[0] == word }
	return slices.ContainsFunc(e.o.Commands, is) || slices.ContainsFunc(e.o.Later, is)
}

// backlog counts the cases that are uploaded and wait for execution. At its limit it holds
// further cases back, and then releases several at once. So their requests go together, and a
// slow engine gets few of them.
type backlog struct {
	limit int

	mu      sync.Mutex
	waiting int
	drained chan struct{} // closed when at most limit cases wait; nil if nobody is held back
}

// wait returns when another case may be uploaded, or the error of ctx.
func (b *backlog) wait(ctx context.Context) error {
	for {
		drained := b.full()
		if drained == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-drained:
		}
	}
}

// full returns a channel to wait for, or nil.
func (b *backlog) full() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting <= b.limit {
		return nil
	}
	if b.drained == nil {
		b.drained = make(chan struct{})
	}
	return b.drained
}

// add changes the number of waiting cases by n.
func (b *backlog) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting += n; b.waiting <= b.limit && b.drained != nil {
		close(b.drained)
		b.drained = nil
	}
}

// A result may wait for others, so that one request reads all their folders: much of the cost
// of a case is waking up for it. The wait is a part of the execution's own time, which makes no
// difference for the whole run.
const (
	companyPart = 8
	companyMax  = 250 * time.Millisecond
)

// companyWait returns how long a result may wait. It is 0 if no other result is expected.
func (run *actionRun) companyWait(resp response) time.Duration {
	if resp.cached || run.engine.State().InFlight < 2*companyPart {
		return 0
	}
	return min(resp.asked/companyPart, companyMax)
}

// Endpoint is the address of an engine, with the client's identity and patience.
type Endpoint = client.Options

// Property is a required property of a worker.
type Property = tree.Property

// Header is a header that every request carries.
type Header = client.Header

// Connection is a connection to an engine. Several runs may use it, one after another. Stop their engines before it is
// closed.
type Connection = client.Client

// Dial connects. An error in the endpoint is of class Input. If the engine cannot be reached or
// lacks a feature, the error is of class Environment.
func Dial(ctx context.Context, at Endpoint) (*Connection, error) { return client.Dial(ctx, at) }
