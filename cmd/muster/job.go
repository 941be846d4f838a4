package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

// takeJob reads [CORPUS] [-- COMMAND [ARG...]].
func takeJob(c *cobra.Command, o *regress.Options, args []string) error {
	before := args
	if at := c.ArgsLenAtDash(); at >= 0 {
		before = args[:at]
		if o.Command.Words = args[at:]; len(o.Command.Words) == 0 {
			return usagef("there is no command after --")
		}
		o.Command.ByGlob = nil
	}
	switch len(before) {
	case 0:
	case 1:
		o.Corpus.Path = before[0]
	default:
		return usagef("%q after the corpus %q: the command goes after --, as in: %s %s -- %s", before[1], before[0], c.CommandPath(), before[0], before[1])
	}
	return nil
}

// jobGroups are the flags of the commands that run a corpus.
func jobGroups(more ...group) []group {
	return append([]group{corpusFlags, commandFlags, selectFlags, orderFlags, limitFlags, storeFlags, resumeFlag, normalizeFlag, reportFlags}, more...)
}
