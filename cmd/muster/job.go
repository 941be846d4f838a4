package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/host"
)

// takeJob reads [CORPUS] [-- COMMAND [ARG...]].
func takeJob(c *cobra.Command, o *regress.Options, args []string) error {
	before, err := takeCommand(c, o, args)
	if err != nil {
		return err
	}
	if name := redirectedTo(); name != "" {
		return usagef("standard output goes to a file called %s: quote the > of the command and add --shell, as in: %s --shell -- 'tool {in} > {out}'", name, c.CommandPath())
	}
	return takeCorpus(c, o, before)
}

// takeCommand reads the command after -- and returns the arguments before it.
func takeCommand(c *cobra.Command, o *regress.Options, args []string) (before []string, err error) {
	at := c.ArgsLenAtDash()
	if at < 0 {
		return args, nil
	}
	if o.Command.Words = args[at:]; len(o.Command.Words) == 0 {
		return nil, usagef("there is no command after --")
	}
	o.Command.ByGlob = nil
	return args[:at], nil
}

func takeCorpus(c *cobra.Command, o *regress.Options, args []string) error {
	switch len(args) {
	case 0:
		return nil
	case 1:
		o.Corpus.Path = args[0]
		return nil
	}
	return usagef("%q after the corpus %q: the command goes after --, as in: %s %s -- %s", args[1], args[0], c.CommandPath(), args[0], args[1])
}

// jobGroups are the flags of the commands that run a corpus.
func jobGroups(more ...flagGroup) []flagGroup {
	return append([]flagGroup{corpusFlags, commandFlags, toolFlags, selectFlags, orderFlags, limitFlags, storeFlags, resumeFlag, comparisonFlags, reportFlags, remoteFlags}, more...)
}

// A runner is a command whose report ends with a summary.
type runner func(context.Context, regress.Options, host.Host) (regress.Summary, error)

// work executes a run. The run goes on if the reader of its output goes away, because it also
// keeps its results in files.
func work(c *cobra.Command, o *regress.Options, h host.Host, do runner) error {
	signal.Ignore(syscall.SIGPIPE)
	return finish(do(c.Context(), *o, h))
}
