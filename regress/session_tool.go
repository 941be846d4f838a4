package regress

import (
	"slices"

	"muster/regress/internal/exec"
	"muster/regress/internal/job"
	"muster/regress/internal/run"
	"muster/regress/internal/tool"
)

// identifyTool finds the files of the session's commands, and of further commands that run
// beside them. Call it after resolveCommands. On an engine only the executables that muster sends
// count.
func identifyTool(s *session, further ...*exec.Command) (err error) {
	s.tool, err = run.IdentifyTool(tool.Options{
		Commands: slices.Concat(s.exec.Commands.All(), further), Env: job.Environment(&s.job.Command),
		Add: s.job.Command.ToolFiles, Leave: s.job.Command.NoToolFiles, Alone: s.exec.Crew.IsRemote(),
	}, s.state.Cache())
	return err
}
