package regress

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/golden"
	"muster/regress/internal/run"
	"muster/regress/internal/tool"
)

// toolDigestsFile remembers the digests of the tool's files, in the cache of the state folder.
const toolDigestsFile = "tool-digests.json"

// toolEvery is the longest time between two looks at the tool's files.
const toolEvery = 2 * time.Second

// identifyTool finds the files of the session's commands, and of further commands that run
// beside them. Call it after resolve. On an engine only the executables that muster sends
// count.
func (s *session) identifyTool(further ...*exec.Command) (err error) {
	s.tool, err = tool.Build(tool.Options{
		Commands: slices.Concat(s.commands.All(), further), Env: caseEnvironment(&s.o.Command),
		Add: s.o.Command.ToolFiles, Leave: s.o.Command.NoToolFiles,
		Alone: s.crew.IsRemote(), Digests: s.toolDigests(),
	})
	return err
}

func (s *session) toolDigests() *filedigest.Cache {
	return filedigest.Open(filepath.Join(s.state.Cache(), toolDigestsFile))
}

// recordedTool lists the tool's files for a golden. On an engine the tool is the workers'.
func (s *session) recordedTool() (list []golden.ToolFile) {
	if s.crew.IsRemote() {
		return nil
	}
	for f := range s.tool.Files() {
		list = append(list, golden.ToolFile{Path: f.Path, Role: string(f.Role), Digest: f.Digest})
	}
	return list
}

// toolChanged lists the tool's files that changed since a golden was recorded.
func (s *session) toolChanged(recorded golden.Meta) []string {
	if s.crew.IsRemote() {
		return nil
	}
	earlier := make([]tool.KnownFile, len(recorded.Tool))
	for i, f := range recorded.Tool {
		earlier[i] = tool.KnownFile{Path: f.Path, Digest: f.Digest}
	}
	return s.tool.ChangedSince(earlier)
}

// watchTool looks at the tool's files while cases run. The first change ends the returned
// context. Call the returned function with the run's error when no case runs any more. It
// returns the change, if there was one, instead of that error.
func (s *session) watchTool(ctx context.Context) (context.Context, func(error) error) {
	if s.ticks == nil {
		ticker := time.NewTicker(toolEvery)
		s.ticks, s.stopTicks = ticker.C, ticker.Stop
	}
	watched, cancel := context.WithCancelCause(ctx)
	watch := s.tool.Watch(s.ticks, cancel)
	return watched, func(err error) error {
		touched, changed := watch.End()
		cancel(nil)
		if s.stopTicks != nil {
			s.stopTicks()
		}
		if changed != nil {
			s.noteMixed(changed)
			if ctx.Err() == nil {
				return changed
			}
			s.events.Warn(changed.Error()) // the interrupt counts, and came first
		}
		for _, path := range touched {
			s.events.Warn(path + run.WrittenMeanwhile)
		}
		return err
	}
}

// noteMixed keeps with the run that a file of the tool changed while the run was under way:
// --resume refuses the run even when every file is again what it was.
func (s *session) noteMixed(changed error) {
	s.ledger.Summary.Mixed = true
	if s.run != nil {
		s.run.Identity[whileItRan], _, _ = strings.Cut(changed.Error(), ": run again")
	}
}
