package regress

import (
	"fmt"

	"muster/regress/internal/exec"
	"muster/regress/internal/glob"
	"muster/regress/internal/tool"
)

// command is what runs, resolved.
type command struct {
	main   *exec.Command
	byGlob []globbed
	tool   *tool.Identity // nil before identifyTool
}

type globbed struct {
	glob    string
	command *exec.Command
}

// For returns the command for a case.
func (c *command) For(name string) *exec.Command {
	for _, g := range c.byGlob {
		if ok, err := glob.Match(g.glob, name); err == nil && ok {
			return g.command
		}
	}
	return c.main
}

// all returns the commands.
func (c *command) all() (list []*exec.Command) {
	if c.main != nil {
		list = append(list, c.main)
	}
	for _, g := range c.byGlob {
		list = append(list, g.command)
	}
	return list
}

func (c *command) identify(id map[string]string) {
	if c.main != nil {
		identify("the command", c.main, id)
	}
	for i, g := range c.byGlob {
		what := "the command for " + g.glob
		identify(what, g.command, id)
		id[what+", its place"] = fmt.Sprint(i)
	}
}

func identify(what string, c *exec.Command, id map[string]string) {
	id[what] = fmt.Sprintf("%q", c.Words)
	if !c.Here {
		id[what+"'s executable"] = c.Path // one of an engine's workers
	}
}
