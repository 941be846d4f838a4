// Package crew starts what runs the cases: lanes on this machine, or an engine elsewhere. Input: the
// place of the runs, the corpus, the commands and the limits, as plain values. Output: an
// exec.Executor. Executors that wrap another one count runs, report slow ones, ignore parts, classify
// errors, and settle endings that an engine reports alike.
//
// It decides no order and gives no verdict. It does not know the options of a run, and opens no golden:
// its caller passes a function that looks up an outcome.
package crew

import (
	"context"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/program"
	"muster/regress/internal/report"
)

// A Crew runs the cases of one session: Here or Engine. Its owner calls its methods, one at a
// time.
type Crew interface {
	// Resolve finds the executable of a command.
	Resolve(words []string) (*exec.Command, error)
	// Start starts an executor. Close the last one before the next Start.
	Start(context.Context, Setup) (exec.Executor, error)
	Width() Width
	// IsRemote reports whether cases run on other machines than this one.
	IsRemote() bool
	// Account describes what runs the cases. Call it after Start.
	Account() Account
	// Sum returns the figures of all runs so far on an engine, or nil.
	Sum() *regress.EngineRuns
	// Quiet returns when the crew emits no more events, until the next Start.
	Quiet()
	// Close releases everything. Close the executors first.
	Close()
}

// Account describes what runs the cases.
type Account struct {
	Identity  map[string]string // must be the same to resume a run, by names that an error can use
	LaneKind  string            // of the lanes of this machine; "" on an engine
	Limits    string            // that cases on this machine get; "" on an engine
	Preflight outcome.Digest    // of what the preflight printed; zero without one
}

// Width says how much a crew does at once.
type Width struct {
	Jobs       int  // cases that run at once; 0 = one, without a pool
	Goroutines int  // that work on cases: some may prepare the next ones
	Alone      bool // tasks are handed over one by one: the engine has a queue of its own
}

// Options say where cases run.
type Options struct {
	Command      string // name of the run's command, for events
	Shell, Stdin bool   // of command lines
	As           string // the name of every source in its lane; "" = that of its case
	Jobs         int    // cases at once on this machine
	Helper       []string
	// StartExecutor replaces lanes. It is nil outside of tests.
	StartExecutor func(lanes int) (exec.Executor, error)

	Engine     Endpoint // without a URL the cases run on this machine
	Note, Warn func(string)
	Emit       func(report.Event)
}

// Setup says what an executor runs, and within which limits.
type Setup struct {
	Corpus   *corpus.Corpus
	Commands []*exec.Command
	Later    []*exec.Command // commands that may run
	Env      []string        // K=V, beside what every case gets
	Visible  []string        // further paths that cases use, on this machine

	Timeout, Grace time.Duration
	Slow           time.Duration // on this machine, a run that takes longer is reported; 0 = none
	MemoryMax      int64         // bytes; at most 0 = no limit
	OutputMax      int64         // bytes
	NoNetwork      bool
	Shim           string // the library that makes fork servers, on this machine; "" = there are none

	Lanes int    // on this machine
	Keep  string // if not empty, the folder that stays as the case leaves it, on this machine

	Exclude []string // files that do not travel
	Cache   string   // folder of the state
	// Left returns the files that a case is known to leave. It may be nil.
	Left func(caseName string) []string
}

// UsedCPU returns the CPU time that this process itself has used so far.
func UsedCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Here is a Crew of lanes on this machine.
type Here struct {
	o            Options
	kind, limits string // of the lanes, after Start
}

// NewHere returns a crew on this machine. It starts nothing.
func NewHere(o Options) *Here { return &Here{o: o} }

func (h *Here) Resolve(words []string) (*exec.Command, error) {
	c, err := exec.Resolve(words, h.o.Shell, h.o.Stdin)
	if err == nil {
		c.As = h.o.As
	}
	return c, err
}

// Start implements Crew. It starts the lanes.
func (h *Here) Start(ctx context.Context, s Setup) (exec.Executor, error) {
	if h.o.StartExecutor != nil {
		return h.o.StartExecutor(s.Lanes)
	}
	if len(h.o.Helper) == 0 {
		return nil, fault.Environmentf("no lane helper: Options.Helper is empty")
	}
	if err := CheckLimits(s.Lanes); err != nil {
		return nil, err
	}
	for _, e := range s.Corpus.Given() {
		if as := h.o.As; as != "" && (e.Name == as || strings.HasPrefix(e.Name, as+"/")) {
			return nil, fault.Inputf("--as %s: every case has a shared file of that name: choose another name", name.Print(as))
		}
	}
	lanes, err := local.Start(ctx, local.Options{
		Lanes: s.Lanes, Helper: h.o.Helper, Corpus: s.Corpus, Env: s.Env,
		Timeout: s.Timeout, Grace: s.Grace,
		MemoryMax: max(0, s.MemoryMax), OutputMax: s.OutputMax,
		NoNetwork: s.NoNetwork, Visible: textsOf(&s), Shim: s.Shim, Keep: s.Keep, Note: h.o.Note, Warn: h.o.Warn,
	})
	if err != nil {
		return nil, err // avoid a nil *local.Crew in the interface
	}
	h.kind, h.limits = lanes.Kind(), lanes.Limits()
	return reportSlow(lanes, s.Slow, h.o.Emit), nil
}

// textsOf returns the texts with the paths that the commands use.
func textsOf(s *Setup) []string {
	texts := slices.Clone(s.Visible)
	for _, c := range slices.Concat(s.Commands, s.Later) {
		texts = append(append(texts, c.Path), c.Words...)
		if interpreter, err := program.Script(c.Path); err == nil {
			texts = append(texts, interpreter...)
		}
	}
	return texts
}

func (h *Here) Width() Width { return Width{Jobs: h.o.Jobs, Goroutines: h.o.Jobs} }

func (h *Here) IsRemote() bool { return false }

// Account implements Crew. The tool's files identify a run here, which the session adds.
func (h *Here) Account() Account {
	return Account{Identity: map[string]string{"the limits of cases": h.limits}, LaneKind: h.kind, Limits: h.limits}
}

func (h *Here) Sum() *regress.EngineRuns { return nil }

func (h *Here) Quiet() {}

func (h *Here) Close() {}

// CheckLimits refuses more lanes than the limits of this process allow, before a case meets
// them. With 0 lanes it checks what a process without a run needs. Its error is of class
// Environment.
func CheckLimits(lanes int) error {
	if err := checkOpenFiles(lanes); err != nil {
		return err
	}
	return local.CheckLimits(lanes)
}

// CheckJobs refuses a number of cases at once for which this machine has no lanes.
func CheckJobs(n int) error {
	if n > local.LanesMax {
		return fault.Inputf("--jobs %d: at most %d are possible", n, local.LanesMax)
	}
	return nil
}

// openFilesRun is the number of files that a run has open beside those of its lanes: corpus,
// goldens with journal and lock, reports, and what the start of a helper takes. The least
// with which a check passes is 20.
const openFilesRun = 27

// checkOpenFiles refuses more lanes than the limit on open files allows, before any case
// meets the limit. 0 lanes count as one. The Go runtime has already raised the limit as
// far as it may.
func checkOpenFiles(lanes int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // a limit that cannot be read shows later
	}
	need := uint64(openFilesRun + local.FilesPerLane*max(1, lanes))
	if limit.Cur >= need {
		return nil
	}
	if lanes == 0 {
		return fault.Environmentf("only %s files may be open at once, and muster needs %s: raise the limit (ulimit -n)", readable.Number(int64(limit.Cur)), readable.Number(int64(need)))
	}
	return fault.Environmentf("%s at once take up to %s, and %s are allowed: raise the limit (ulimit -n), or use fewer --jobs",
		readable.Cases(lanes), readable.Count(int64(need), "open file"), readable.Number(int64(limit.Cur)))
}

// watch emits the state of an engine every second, from the first request to the last: the
// user sees that work goes on. Several goroutines may call its methods.
type watch struct {
	emit    func(report.Event)
	command string // name of the run's command

	mu       sync.Mutex        // guards what follows
	doing    string            // before the first case
	conn     *reapi.Connection // nil until it is known
	engine   *reapi.Engine     // nil until cases run
	stop     chan struct{}     // nil unless the watch is active
	emitting sync.WaitGroup
}

// watchEvery is often enough for eyes, and does not fill a file of events.
const watchEvery = time.Second

// begin reports what is done now, and starts the ticks. It does nothing while cases run, since a command that few
// cases need may be prepared then.
func (w *watch) begin(doing string) {
	w.mu.Lock()
	isRunning := w.engine != nil
	if !isRunning {
		w.doing = doing
	}
	if w.stop == nil && !isRunning {
		stop := make(chan struct{})
		w.stop = stop
		w.emitting.Go(func() { w.tick(stop) })
	}
	w.mu.Unlock()
	if !isRunning {
		w.report()
	}
}

// connected sets the connection whose traffic is reported.
func (w *watch) connected(c *reapi.Connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = c
}

// running notes that cases run from here on.
func (w *watch) running(e *reapi.Engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.engine, w.doing = e, ""
}

// end returns when no event will be emitted any more, until the watch begins again.
func (w *watch) end() {
	w.mu.Lock()
	if w.stop != nil {
		close(w.stop)
	}
	w.stop, w.conn, w.engine = nil, nil, nil
	w.mu.Unlock()
	w.emitting.Wait()
}

func (w *watch) tick(stop chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			w.report()
		}
	}
}

// report emits the present state, if the watch is active.
func (w *watch) report() {
	w.mu.Lock()
	isActive, engine, conn := w.stop != nil, w.engine, w.conn
	e := report.Engine{Command: w.command, Doing: w.doing, At: time.Now()}
	w.mu.Unlock()
	if !isActive {
		return
	}
	if engine != nil {
		now := engine.State()
		e.InFlight, e.Queued, e.Running = now.InFlight, now.Queued, now.Running
	}
	if conn != nil {
		e.Sent, e.Received = conn.Traffic()
	}
	w.emit(e)
}
