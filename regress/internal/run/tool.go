package run

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"muster/regress/internal/filedigest"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/tool"
)

// digestsFile remembers the digests of the tool's files, in the cache of the state folder.
const digestsFile = "tool-digests.json"

// watchEvery is the longest time between two looks at the tool's files.
const watchEvery = 2 * time.Second

// Tool is the tool of a run: the files of its commands. On an engine the tool is that of the
// workers: here it has only the executables that muster sends. The zero Tool has no files.
type Tool struct {
	identity *tool.Identity
	remote   bool
	mixed    error // the change while cases ran
}

// identifyTool finds the files of the tool. It remembers their digests in the cache of the state
// folder.
func identifyTool(o tool.Options, cache string) (*Tool, error) {
	o.Digests = filedigest.Open(filepath.Join(cache, digestsFile))
	identity, err := tool.Build(o)
	return &Tool{identity: identity, remote: o.Alone}, err
}

// Files returns the files of the tool.
func (t *Tool) Files() *tool.Identity { return t.identity }

// Digest returns the digest of a file by its path, or zero if the file does not belong to the tool.
func (t *Tool) Digest(path string) outcome.Digest { return t.identity.Digest(path) }

// Identify adds the files to the identity of a run.
func (t *Tool) Identify(id map[string]string) {
	for f := range t.identity.Files() {
		id[toolFile+name.Print(f.Path)] = f.Digest.String() + " " + f.Stamp
	}
}

// Recorded lists the files for a golden. On an engine it lists none.
func (t *Tool) Recorded() (list []golden.ToolFile) {
	if t.remote {
		return nil
	}
	for f := range t.identity.Files() {
		list = append(list, golden.ToolFile{Path: f.Path, Role: string(f.Role), Digest: f.Digest})
	}
	return list
}

// ChangedSince lists the files that changed since a golden was recorded. On an engine it lists none.
func (t *Tool) ChangedSince(recorded []golden.ToolFile) []string {
	if t.remote {
		return nil
	}
	earlier := make([]tool.KnownFile, len(recorded))
	for i, f := range recorded {
		earlier[i] = tool.KnownFile{Path: f.Path, Digest: f.Digest}
	}
	return t.identity.ChangedSince(earlier)
}

// Watch looks at the files while cases run. The first change ends the returned context. Call the
// returned function with the run's error when no case runs any more. If a file changed, it returns
// the change instead of that error.
func (t *Tool) Watch(ctx context.Context, warn func(string)) (context.Context, func(error) error) {
	ticker := time.NewTicker(watchEvery)
	watched, end := t.watch(ctx, ticker.C, warn)
	return watched, func(err error) error {
		ticker.Stop()
		return end(err)
	}
}

func (t *Tool) watch(ctx context.Context, ticks <-chan time.Time, warn func(string)) (context.Context, func(error) error) {
	watched, cancel := context.WithCancelCause(ctx)
	watch := t.identity.Watch(ticks, cancel)
	return watched, func(err error) error {
		touched, changed := watch.End()
		cancel(nil)
		if t.mixed = changed; changed != nil {
			if ctx.Err() == nil {
				return changed
			}
			warn(changed.Error()) // the interrupt came first, so its error counts
		}
		for _, path := range touched {
			warn(path + writtenMeanwhile)
		}
		return err
	}
}

// MarkMixed reports whether a file changed during Watch, and adds that to the identity of the run.
// So --resume refuses the run even when every file is again what it was.
func (t *Tool) MarkMixed(id map[string]string) bool {
	if t.mixed == nil {
		return false
	}
	id[mixedKey], _, _ = strings.Cut(t.mixed.Error(), ": run again")
	return true
}
