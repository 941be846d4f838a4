package main

import (
	"maps"
	"os"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/past"
)

// completeFlags lets a shell complete the values of a command's flags.
func completeFlags(c *cobra.Command, o *regress.Options, from *configSource) {
	for flag, words := range flagValues() {
		register(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	register(c, "profile", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return from.profiles(), cobra.ShellCompDirectiveNoFileComp
	})
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
	return map[string][]string{"allow": regress.Allowable(), "format": {"text", "json"}, "color": {"auto", "always", "never"}}
}

// register lets a shell complete a flag, if the command has it.
func register(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if c.Flags().Lookup(flag) != nil {
		_ = c.RegisterFlagCompletionFunc(flag, f) // fails only for a missing flag, or the second time
	}
}

// profiles returns the names of the profiles in the configuration file, or none if it cannot be
// read.
func (c *configSource) profiles() []cobra.Completion {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return nil
	}
	top := map[string]any{}
	if toml.Unmarshal(text, &top) != nil {
		return nil
	}
	found, err := tables(c.file, top[profileKey])
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}
