package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/past"
)

// names lists completions for a case's name. If there are none, the argument is a file.
type names func(c *cobra.Command, o *regress.Options, h host.Host, args []string) ([]cobra.Completion, error)

// differing lists the cases that were not identical in the run that --run names.
func differing(c *cobra.Command, o *regress.Options, h host.Host, _ []string) ([]cobra.Completion, error) {
	list, err := past.DifferingCompletions(*o, h, c.Flag("run").Value.String())
	return completions(list), err
}

// causesAndCases lists the causes of the run that --run names, and its cases that were not
// identical.
func causesAndCases(c *cobra.Command, o *regress.Options, h host.Host, args []string) ([]cobra.Completion, error) {
	causes, err := past.CauseCompletions(*o, h, c.Flag("run").Value.String())
	if err != nil {
		return nil, err
	}
	cases, err := differing(c, o, h, args)
	return append(completions(causes), cases...), err
}

func completions(list []past.Completion) []cobra.Completion {
	all := make([]cobra.Completion, len(list))
	for i, l := range list {
		all[i] = cobra.CompletionWithDesc(l.Word, l.Text)
	}
	return all
}

// complete answers a shell. It prints no errors: after an error there are no completions.
func (l names) complete(c *cobra.Command, o *regress.Options, h host.Host, from *configSource, args []string) ([]string, cobra.ShellCompDirective) {
	if err := from.apply(c.Flags(), o); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	h.Stdout, h.Stderr = io.Discard, io.Discard
	list, err := l(c, o, h, args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if list == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	isGiven := func(c cobra.Completion) bool {
		word, _, _ := strings.Cut(c, "\t")
		return slices.Contains(args, word)
	}
	return slices.DeleteFunc(list, isGiven), cobra.ShellCompDirectiveNoFileComp
}

// tameCompletion makes cobra's completion command refuse mistakes as all other commands do.
func tameCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // cobra has changed its completion command
	}
	c.Use = "completion SHELL"
	c.Short = "Print a shell completion script"
	c.Long = `Completion prints a script that a shell reads to complete commands, flags and the names
of cases. muster help completion SHELL says where it goes.`
	c.Args = nil
	var shells []string
	for _, shell := range c.Commands() {
		shell.Args = noneWanted
		shells = append(shells, shell.Name())
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("completion wants a shell: %s", strings.Join(shells, ", "))
		}
		return usagef("no completion for %q: there is one for %s", args[0], strings.Join(shells, ", "))
	}
}

// completeFlags lets a shell complete the values of a command's flags.
func completeFlags(c *cobra.Command, o *regress.Options, from *configSource) {
	for flag, words := range flagValues() {
		register(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	register(c, "run", func(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if from.apply(c.Flags(), o) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		list, err := past.RunCompletions(*o, c.Name() == "show")
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return completions(list), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	})
}

// flagValues returns the possible values of the flags that have few of them.
func flagValues() map[string][]string {
	return map[string][]string{
		"allow": regress.Allowable(), "format": {"text", "json"}, "color": {"auto", "always", "never"}, "github": {"auto", "on", "off"},
		"log": {string(logAuto), string(logText), string(logJSON)},
	}
}

// register lets a shell complete a flag, if the command has it.
func register(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if c.Flags().Lookup(flag) != nil {
		_ = c.RegisterFlagCompletionFunc(flag, f) // fails only for a missing flag, or the second time
	}
}
