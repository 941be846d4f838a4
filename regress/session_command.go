package regress

import (
	"muster/regress/internal/crew"
)

// resolveCommands finds the executables, and a command for every case. Call it after Connect: an
// engine has its own executables.
func resolveCommands(s *session) error {
	c := &s.job.Command
	byGlob := make([]crew.CommandLine, len(c.ByGlob))
	for i, g := range c.ByGlob {
		byGlob[i] = crew.CommandLine(g)
	}
	return s.exec.Resolve(c.Words, byGlob, s.in.Names())
}
