package main

import (
	"github.com/spf13/cobra"
)

// noneWanted refuses arguments.
func noneWanted(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, not %q", c.Name(), args[0])
	}
	return nil
}

// oneArg requires exactly one argument, and describes it in the error.
func oneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("%s wants %s", c.Name(), what)
		case 1:
			return nil
		}
		return usagef("%s wants %s alone, not %q too", c.Name(), what, args[1])
	}
}

// atMostOne refuses a second argument, and describes the first in the error.
func atMostOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s takes %s alone, not %q too", c.Name(), what, args[1])
		}
		return nil
	}
}

// unknownSubcommand refuses arguments of a command that only has subcommands.
func unknownSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return usagef("unknown command %q%s: %s --help lists the commands", args[0], suggest(args[0], names), c.CommandPath())
}
