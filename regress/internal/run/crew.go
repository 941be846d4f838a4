package run

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/console"
	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/tool"
)

// Connect connects to the engine, if one runs the cases.
func (r *Run) Connect(ctx context.Context) error {
	c, err := crew.Connect(ctx, crewOptions(r))
	if err == nil {
		r.Execution.Crew = c
	}
	return err
}

func crewOptions(r *Run) crew.Options {
	o := &r.Job.Options
	return crew.Options{
		Command: r.Job.Name, Shell: o.Command.Shell, Stdin: o.Command.Stdin, As: o.Command.As, Jobs: o.Limits.Jobs,
		Helper: o.Helper, StartExecutor: r.Host.Executor, Engine: newEndpoint(o),
		Note: r.Events.Note, Warn: r.Events.Warn, Emit: r.Events.Emit,
	}
}

// newEndpoint returns where the engine is, who asks, and what goes there.
func newEndpoint(o *regress.Options) crew.Endpoint {
	e := crew.Endpoint{Remote: o.Remote, Version: o.Version, Timeout: o.Limits.Timeout}
	e.Jobs = cmp.Or(e.Jobs, regress.RemoteJobsDefault)
	return e
}

// DialCache connects to the cache that shares outcomes.
func DialCache(ctx context.Context, r *Run) (*crew.Cache, error) {
	e := newEndpoint(&r.Job.Options)
	e.URL = r.Job.Store.RemoteCache
	return crew.DialCache(ctx, e)
}

// ResolveCommands connects like Connect, and finds the executables, which may be those of the engine,
// and a command for every case.
func (r *Run) ResolveCommands(ctx context.Context) (err error) {
	if err := r.Connect(ctx); err != nil {
		return err
	}
	c := &r.Job.Command
	r.Execution.Commands, err = crew.ResolveCommands(r.Execution.Crew, c.Words, c.ByGlob, r.Inputs.Names())
	return err
}

// IdentifyTool finds the executables of the commands, and of further commands that run beside them.
// Call it after ResolveCommands. On an engine only the executables that muster sends count.
func (r *Run) IdentifyTool(further ...*exec.Command) error {
	leave, err := compileLeave(r.Job.Command.NoToolFiles)
	if err != nil {
		return err
	}
	r.Tool, err = identifyTool(tool.Options{
		Commands: slices.Concat(r.Execution.Commands.All(), further), Env: job.Environment(&r.Job.Command),
		Add: r.Job.Command.ToolFiles, Leave: leave,
	}, r.Execution.Crew.IsRemote(), r.State.Cache(), ownPaths(&r.Job.Options))
	return err
}

// compileLeave returns a function that reports whether a path does not count. A glob without a slash matches base
// names.
func compileLeave(globs []string) (func(path string) bool, error) {
	globs = slices.Clone(globs)
	for i, pattern := range globs {
		if strings.Contains(pattern, "/") {
			globs[i], _ = filepath.Abs(pattern) // "" matches nothing
		}
	}
	set, err := glob.Compile(globs...)
	if err != nil {
		return nil, fault.Inputf("--no-tool-file: %w", err)
	}
	return set.Match, nil
}

// ownPaths returns the paths of the files that muster itself writes.
func ownPaths(o *regress.Options) closure.Own {
	own := closure.Own{}
	for _, file := range listOwnFiles(o) {
		if abs, err := filepath.Abs(file); err == nil {
			own[abs] = true
		}
	}
	return own
}

// Width says how much the executor does at once. With --fail-fast a lane gets one task at once: it
// would still run what it has.
func (r *Run) Width() crew.Width {
	w := r.Execution.Crew.Width()
	w.Alone = w.Alone || r.Job.Select.FailFast > 0
	return w
}

// tmp begins the paths that cases see only if something names them.
const tmp = "/tmp/"

// VisibleFiles lists the files in /tmp that the tool of a golden used.
func VisibleFiles(recorded []golden.ToolFile) (paths []string) {
	for _, f := range recorded {
		if strings.HasPrefix(f.Path, tmp) && f.Digest != (outcome.Digest{}) && f.Role != golden.ListedRole {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// slowMin is the least time after which a case counts as slow.
const slowMin = 15 * time.Second

// Setup returns what the executor runs: the selected cases, on as many lanes of this machine as
// they can use.
func (r *Run) Setup() crew.Setup {
	o := &r.Job.Options
	visible := slices.Clone(o.Command.ToolFiles)
	for f := range r.Tool.Closure().All() {
		if strings.HasPrefix(f.Path, tmp) { // as by --tool-file '/tmp/*.conf'
			visible = append(visible, f.Path)
		}
	}
	return crew.Setup{
		Corpus: r.Inputs.Corpus, Commands: r.Execution.Commands.All(), Env: job.Environment(&o.Command), Visible: visible,
		Timeout: o.Limits.Timeout, Grace: regress.Grace, Slow: max(slowMin, o.Limits.Timeout/4),
		MemoryMax: o.Limits.Memory, OutputMax: o.Limits.OutputMax, NoNetwork: o.Command.NoNetwork,
		Lanes: max(1, min(o.Limits.Jobs, len(r.Inputs.Cases))), Exclude: listOwnFiles(o), Cache: r.State.Cache(),
	}
}

// listOwnFiles lists the files that muster itself writes. In a corpus that is the current folder,
// they are not cases.
func listOwnFiles(o *regress.Options) []string {
	own := []string{o.Store.State}
	if !place.IsAddress(o.Store.Golden) {
		own = append(own, golden.Files(o.Store.Golden)...)
	}
	return append(own, console.Paths(&o.Report)...)
}

// NewSettler returns a Settler for runs that are compared with a golden.
func NewSettler(r *Run, base *golden.Store) crew.Settler {
	if !r.Execution.Crew.IsRemote() && !base.Meta().OnEngine() {
		return crew.Settler{}
	}
	return crew.NewSettler(base.Get)
}
