package crew

import (
	"fmt"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
)

// Commands are the resolved commands of a run.
type Commands struct {
	Main   *exec.Command // of the cases that no glob matches; nil if each case must match one
	ByGlob []GlobCommand // the first glob that matches a case counts
}

// GlobCommand is the command of the cases that a glob matches.
type GlobCommand struct {
	Glob    string
	Command *exec.Command
}

// A CommandLine has the words of a command. Its glob names the cases, but for the main command.
type CommandLine struct {
	Glob  string
	Words []string
}

// ResolveCommands finds the executables. It refuses cases without a command.
func ResolveCommands(c Crew, words []string, byGlob []CommandLine, caseNames []string) (list Commands, err error) {
	if len(words) > 0 || len(byGlob) == 0 {
		if list.Main, err = c.Resolve(words); err != nil {
			return list, err
		}
	}
	for _, g := range byGlob {
		if _, err := glob.Match(g.Glob, "x"); err != nil {
			return list, err
		}
		resolved, err := c.Resolve(g.Words)
		if err != nil {
			return list, err
		}
		list.ByGlob = append(list.ByGlob, GlobCommand{g.Glob, resolved})
	}
	return list, list.cover(caseNames)
}

// cover refuses cases without a command.
func (c *Commands) cover(caseNames []string) error {
	if c.Main != nil {
		return nil
	}
	for _, one := range caseNames {
		if c.For(one) == nil {
			return fault.Inputf("no command for %s: none of the globs of [[commands]] matches it, and there is no command for the rest", name.Print(one))
		}
	}
	return nil
}

// For returns the command for a case.
func (c *Commands) For(caseName string) *exec.Command {
	for _, g := range c.ByGlob {
		if ok, err := glob.Match(g.Glob, caseName); err == nil && ok {
			return g.Command
		}
	}
	return c.Main
}

// All returns the commands.
func (c *Commands) All() (list []*exec.Command) {
	if c.Main != nil {
		list = append(list, c.Main)
	}
	for _, g := range c.ByGlob {
		list = append(list, g.Command)
	}
	return list
}

// Identify adds what must be the same to resume a run.
func (c *Commands) Identify(id map[string]string) {
	if c.Main != nil {
		IdentifyCommand("the command", c.Main, id)
	}
	for i, g := range c.ByGlob {
		what := "the command for " + g.Glob
		IdentifyCommand(what, g.Command, id)
		id[what+", its place"] = fmt.Sprint(i)
	}
}

// IdentifyCommand adds what must be the same of one command to resume a run.
func IdentifyCommand(what string, c *exec.Command, id map[string]string) {
	id[what] = fmt.Sprintf("%q", c.Words)
	if !c.IsLocal {
		id[what+"'s executable"] = c.Path // one of an engine's workers
	}
}
