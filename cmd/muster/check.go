package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/merge"
	"muster/regress/record"
	"muster/regress/runone"
)

func (p *program) check() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "check [CORPUS] [flags] [-- COMMAND [ARG...]]",
		Short: "Run a changed command and compare with the golden",
		Long: `Check runs the command over every case of the corpus and compares the outcomes with
the golden. It never writes the golden. If a case differs, check runs it two more times.
If some runs equal the golden, the case is flaky. Otherwise it gets another verdict, such
as changed or crashed. Then check measures what the change costs.

Corpus, command, selection, environment and limits default to the recorded ones. If you
give a selection, it narrows the recorded one. The exit status is 0 if all cases are
identical, and 1 if a case differs. See muster help exit-codes.`,
		Example: `  muster check
  muster check sources.tar --filter '^a/' -- ./gofmt-new {in}
  muster check --fail-on 'cpu>5%' -- ./gofmt-new {in}
  muster check --normalize 'stdout:s/took [0-9]+ ms/took N ms/'`,
	}, jobGroups(resumeFlag, checkFlags, runsFlag, reuseFlag, forkServerFlag, allCasesFlag), p.onJob(check.Run))
}

func watch(p *program) *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "watch [CORPUS] [flags] [-- COMMAND [ARG...]]",
		Short: "Check again whenever a file of the tool changes",
		Long: `Watch checks at once, and again whenever a file of the tool changes: its executable, its
libraries, and other files that the tool used. A change ends a check under way. The next
check begins when no file has changed for half a second. The cases that were not
identical in the last check run first. Ctrl-C ends watch, with exit status 130.

Watch takes the flags of check, except --resume. It never writes the golden. Each check
is a run like any other: groups, show and accept take it from another terminal. A check
that a change has ended leaves no run.`,
		Example: `  muster watch
  muster watch -q --fail-fast 20 -- ./build/gofmt-new {in}`,
	}, jobGroups(checkFlags, runsFlag, allCasesFlag), func(c *cobra.Command, o *regress.Options, args []string) error {
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the output
		h := newHost(p)
		return check.Watch(c.Context(), *o, h, func(err error) { exitStatus(err, h.Stderr) })
	})
}

// onJob reads [CORPUS] [-- COMMAND [ARG...]] and executes a run.
func (p *program) onJob(do runner) action {
	return func(c *cobra.Command, o *regress.Options, args []string) error {
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		return work(c, o, newHost(p), do)
	}
}

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
	return append([]flagGroup{corpusFlags, commandFlags, toolFlags, selectFlags, orderFlags, limitFlags, storeFlags, comparisonFlags, reportFlags, remoteFlags}, more...)
}

// A runner is a command whose report ends with a summary.
type runner func(context.Context, regress.Options, host.Host) (regress.Summary, error)

// work executes a run. The run goes on if the reader of its output goes away, because it also
// keeps its results in files.
func work(c *cobra.Command, o *regress.Options, h host.Host, do runner) error {
	signal.Ignore(syscall.SIGPIPE)
	return finish(do(c.Context(), *o, h))
}

func (p *program) record() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "record [CORPUS] [flags] [-- COMMAND [ARG...]]",
		Short: "Run the trusted command and record its outcomes in the golden",
		Long: `Record runs the command at least twice over every case of the corpus, and keeps the
outcomes in the golden. It marks the parts that differ from run to run as flaky. The old golden stays
whole until the new one is complete. A golden at an address is replaced only if
nobody changed it since the command began.

A case that fails is an outcome like any other. If every case fails, record
writes no golden and exits with 1, unless --allow-failures is set.

CORPUS is a .tar, .tar.gz, .tar.zst or .tar.xz, a folder, or - for a tar on
standard input. In COMMAND, {in} is the source, {out} is {in}.out, {stem} the
source without its extension, {name} its base name, {dir} its folder. A command
without any of them, and without --stdin, gets {in} as its last argument.`,
		Example: `  muster record sources.tar -- gofmt {in}
  muster record src --headers '*.h' -- cc -c {in} -o {out}
  tar c src | muster record - --stdin -- wc -l`,
	}, jobGroups(resumeFlag, recordFlags), p.onJob(record.Run))
}

func (p *program) compare() *cobra.Command {
	var reference, candidate string
	c := p.command(&cobra.Command{
		Use:   "compare [CORPUS] [flags] --ref 'COMMAND' --new 'COMMAND'",
		Short: "Compare two commands side by side, without a golden",
		Long: `Compare runs both commands over every case of the corpus, interleaved, and
compares their outcomes. It neither reads nor writes a golden: --golden only names a file
that is not a case of the corpus.`,
		Example: `  muster compare sources.tar --ref 'gofmt {in}' --new 'gofmt -s {in}'`,
	}, jobGroups(resumeFlag, checkFlags), func(c *cobra.Command, o *regress.Options, args []string) error {
		if c.ArgsLenAtDash() >= 0 {
			return usagef("compare takes its commands by --ref and --new, not after --")
		}
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		if reference == "" || candidate == "" {
			return usagef("compare wants --ref 'COMMAND' and --new 'COMMAND'")
		}
		var err error
		if o.Command.Reference, err = splitCommand("--ref", reference); err != nil {
			return err
		}
		if o.Command.Words, err = splitCommand("--new", candidate); err != nil {
			return err
		}
		o.Command.ByGlob = nil
		return work(c, o, newHost(p), check.Compare)
	})
	c.Flags().StringVar(&reference, "ref", "", "run `COMMAND` as the trusted one")
	c.Flags().StringVar(&candidate, "new", "", "run `COMMAND` as the changed one")
	return c
}

func (p *program) runOne() *cobra.Command {
	var keep string
	c := p.command(&cobra.Command{
		Use:   "run NAME [CORPUS] [flags] --keep DIR [-- COMMAND [ARG...]]",
		Short: "Run one case and keep its folder, to look at it by hand",
		Long: `Run runs one case exactly as check would, in DIR. DIR stays as the case leaves it:
the work folder, home, tmp and the two streams. Settings that you do not give are as
recorded; --golden '' takes nothing from a golden.`,
		Example: `  muster run a/b.go --keep /tmp/look
  muster run a/b.go sources.tar --keep /tmp/look -- gofmt -s {in}`,
	}, []flagGroup{corpusFlags, commandFlags, caseLimitFlags, storeFlags, remoteFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		before, err := takeCommand(c, o, args)
		if err != nil {
			return err
		}
		if len(before) == 0 {
			return usagef("run wants the name of a case: muster cases lists them")
		}
		if keep == "" {
			return usagef("run wants --keep DIR, the folder to run in")
		}
		if err := takeCorpus(c, o, before[1:]); err != nil {
			return err
		}
		return runone.Run(c.Context(), *o, newHost(p), before[0], keep)
	})
	c.Flags().StringVar(&keep, "keep", "", "keep the case's folder as `DIR`, which must be new or empty")
	return c
}

func (p *program) merge() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "merge RUN RUN... [flags]",
		Short: "Join the checks of several CI jobs into one run",
		Long: `Merge joins checks of parts of one corpus into one run. groups, show, review and accept
take that run like any other. A RUN is the ID of a run, or the state folder of another job.
A state folder stands for its last check.

The runs must have compared the same corpus and command with the same golden, under
the same settings. Merge refuses a case that two runs checked, and names it. The exit status is that of a check.`,
		Example: `  muster check --partition hash:1/2 --state job1       on one machine
  muster check --partition hash:2/2 --state job2       on another
  muster merge job1 job2 --html report.html`,
	}, []flagGroup{stateFlag, reportFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return work(c, o, newHost(p), func(ctx context.Context, o regress.Options, h host.Host) (regress.Summary, error) {
			return merge.Runs(ctx, o, h, args)
		})
	})
}
