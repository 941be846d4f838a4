package run

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"muster/regress/internal/closure"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/observation"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
	"muster/regress/internal/tool"
)

// digestsFile remembers the digests of the tool's files, in the cache of the state folder.
const digestsFile = "tool-digests.json"

// WatchEvery is the usual time between two looks at the tool's files.
const WatchEvery = 2 * time.Second

// Tool is the tool of a run: the closure of its commands. On an engine the tool is that of the
// workers: here it has only the executables that muster sends. The zero Tool has no files.
type Tool struct {
	remote   bool
	options  tool.Options
	own      closure.Own
	observer *observation.Observer // nil if no case is observed
	relisted []string              // listed folders that had other names while cases ran

	mu      sync.Mutex // guards the fields below
	closure *closure.Closure
	watch   *closure.Watch // nil unless cases run
	folder  *state.Run     // takes what later cases add
	saved   time.Time      // when it did
}

// identifyTool finds the executables of the tool, and the files that the user gave. It remembers
// their digests in the cache of the state folder. Observing adds the others. own are muster's files.
func identifyTool(o tool.Options, isRemote bool, cache string, own closure.Own) (*Tool, error) {
	o.Digests = filedigest.Open(filepath.Join(cache, digestsFile))
	t := &Tool{remote: isRemote, options: o, own: own}
	var err error
	t.closure, err = tool.Known(o)
	return t, err
}

// Closure returns what is known of the tool so far.
func (t *Tool) Closure() *closure.Closure {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closure
}

// add adds files that later cases use. If the process is killed, the run's folder lacks those of the
// last seconds: with many cases it is written often enough.
func (t *Tool) add(c *closure.Closure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closure = t.closure.With(c)
	if t.watch == nil {
		return
	}
	t.watch.Set(t.closure)
	if time.Since(t.saved) > WatchEvery {
		identify(t.closure, t.folder.Identity)
		_ = t.folder.Save() // the end of the run saves again, and fails loudly
		t.saved = time.Now()
	}
}

// Digest returns the digest of a file by its path, or zero if the file does not belong to the tool.
func (t *Tool) Digest(path string) outcome.Digest { return t.Closure().Digest(path) }

// Identify adds the tool to the identity of a run.
func (t *Tool) Identify(id map[string]string) { identify(t.Closure(), id) }

func identify(c *closure.Closure, id map[string]string) {
	if c == nil {
		return
	}
	for _, f := range c.Files {
		id[toolFile+name.Print(f.Path)] = f.Digest.String() + " " + string(f.Role) + " " + filestamp.WithoutMount(f.Stamp)
	}
	for _, p := range c.Places {
		if p.IsWritten { // an interrupted case leaves such things
			continue
		}
		state := p.State
		if p.IsListed {
			state = listed + state
		}
		id[toolPlace+name.Print(p.Path)] = state
	}
}

// listed begins the state of a folder whose names belong to it.
const listed = "listed: "

// restore takes over the tool that the identity of an interrupted run names, with the present digests
// and states.
func (t *Tool) restore(id map[string]string) {
	var files []closure.File
	var places []closure.Place
	for key, value := range id {
		printed, isFile := strings.CutPrefix(key, toolFile)
		isPlace := false
		if !isFile {
			if printed, isPlace = strings.CutPrefix(key, toolPlace); !isPlace {
				continue
			}
		}
		path, err := name.Parse(printed)
		if err != nil {
			continue // the identities will differ
		}
		if isPlace {
			places = append(places, closure.Place{Path: path, IsListed: strings.HasPrefix(value, listed)})
			continue
		}
		_, rest, _ := strings.Cut(value, " ")
		role, _, _ := strings.Cut(rest, " ")
		files = append(files, closure.File{Path: path, Role: closure.Role(role)})
	}
	t.add(closure.Restore(context.Background(), files, places, t.own, t.options.Digests))
	t.options.Digests.Save()
}

// Unseen says why not all that the tool depends on is known, or "".
func (t *Tool) Unseen() string {
	if t.observer == nil {
		return "the tool cannot be observed here"
	}
	if c := t.Closure(); c != nil && len(c.Varying) > 0 {
		return "the tool reads " + name.Print(c.Varying[0]) + ", which changes while it runs"
	}
	return t.observer.Blind()
}

// Touched says which file or place was touched since muster looked at it, or "".
func (t *Tool) Touched() string {
	s := t.Closure().Snapshot()
	if path := s.Differs(s.Look()); path != "" {
		return name.Print(path) + " was written to, or has other rights, since the run began"
	}
	if len(t.relisted) > 0 {
		return "the names in " + name.Print(t.relisted[0]) + " changed while cases ran"
	}
	return ""
}

// IsExpected reports whether the tool was observed on a case whose plain run is to come.
func (t *Tool) IsExpected(caseName string) bool { return t.observer.AwaitsPlainRun(caseName) }

// IsUnlike reports whether no observed run of a case had the outcome of its plain run.
func (t *Tool) IsUnlike(caseName string) bool { return t.observer.IsUnlike(caseName) }

// LookAgain returns what an earlier run knew of the tool, as it is now, or nil if ctx ends before.
func LookAgain(ctx context.Context, t *Tool, earlier *closure.Closure) *closure.Closure {
	defer t.options.Digests.Save()
	return closure.Restore(ctx, earlier.Files, earlier.Places, t.own, t.options.Digests)
}

// Recall adds what an earlier run knew of the tool. If something of that changed since, or if this
// run knows more, it adds nothing and says why: what more there was may have been otherwise then.
func (t *Tool) Recall(earlier *closure.Closure) (why string) {
	now := LookAgain(context.Background(), t, earlier)
	known := map[string]string{}
	for _, f := range now.Files {
		known[f.Path] = f.Digest.String()
	}
	for _, f := range earlier.Files {
		if known[f.Path] != f.Digest.String() {
			return name.Print(f.Path) + ", a file of the tool, changed since the earlier check"
		}
	}
	for _, p := range now.Places {
		known[p.Path] = p.State
	}
	for _, p := range earlier.Places {
		if known[p.Path] != p.State {
			return name.Print(p.Path) + ", where the tool looks, changed since the earlier check"
		}
	}
	more := func(path string) string {
		return "the earlier check did not know that the tool uses " + name.Print(path)
	}
	for f := range t.Closure().All() {
		if known[f.Path] != f.Digest.String() {
			return more(f.Path)
		}
	}
	for _, p := range t.Closure().Places {
		if known[p.Path] != p.State {
			return more(p.Path)
		}
	}
	t.observer.Know(now)
	t.add(now)
	return ""
}

// count returns the numbers of its files and of the cases on which it was observed, and the paths
// that are left out.
func (t *Tool) count() (files, observed int, varying []string) {
	if c := t.Closure(); c != nil {
		files, varying = len(c.Files), c.Varying
	}
	return files, t.observer.Cases(), varying
}

// Recorded lists the files, absent paths and listed folders for a golden. On an engine it lists none.
func (t *Tool) Recorded() (list []golden.ToolFile) {
	if t.remote {
		return nil
	}
	for _, f := range t.Closure().Known() {
		list = append(list, golden.ToolFile{Path: f.Path, Role: string(f.Role), Digest: f.Digest})
	}
	return list
}

// ChangedSince lists the files that changed since a golden was recorded, and counts those that are
// the same. On an engine it lists none.
func (t *Tool) ChangedSince(recorded []golden.ToolFile) (paths []string, same int) {
	if t.remote {
		return nil, 0
	}
	earlier := make([]closure.KnownFile, len(recorded))
	for i, f := range recorded {
		earlier[i] = closure.KnownFile{Path: f.Path, Role: closure.Role(f.Role), Digest: f.Digest}
	}
	return t.Closure().ChangedSince(earlier, t.options.Digests)
}

// Watch looks at the files at each interval while cases run. The first change ends the returned context. Call the
// returned function with the run's error when no case runs any more. That function reports whether there was a change,
// which is the error then, even if ctx ended. The folder of the run gets what later cases add to the tool.
func (t *Tool) Watch(ctx context.Context, every time.Duration, folder *state.Run, warn func(string)) (context.Context, func(error) (changed bool, _ error)) {
	ticker := time.NewTicker(every)
	t.folder = folder
	watched, end := t.watchAt(ctx, ticker.C, warn)
	return watched, func(err error) (bool, error) {
		ticker.Stop()
		changed, err := end(err)
		t.Identify(folder.Identity)
		return changed, err
	}
}

func (t *Tool) watchAt(ctx context.Context, ticks <-chan time.Time, warn func(string)) (context.Context, func(error) (changed bool, _ error)) {
	watched, cancel := context.WithCancelCause(ctx)
	t.mu.Lock()
	watch := t.closure.Watch(ticks, cancel)
	t.watch = watch
	t.mu.Unlock()
	return watched, func(err error) (bool, error) {
		t.mu.Lock()
		t.watch = nil
		t.mu.Unlock()
		var change *closure.Change
		var touched []string
		touched, t.relisted, change = watch.End()
		cancel(nil)
		for _, path := range touched {
			warn(path + writtenMeanwhile)
		}
		for _, path := range t.relisted {
			warn("the names in " + name.Print(path) + ", which the tool lists, changed while cases ran: run again if they matter to the tool")
		}
		if change != nil {
			err = change // whatever else ended the run, nothing of it is kept
		}
		return change != nil, err
	}
}
