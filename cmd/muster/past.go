package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/decide"
	"muster/regress/goldens"
	"muster/regress/host"
	"muster/regress/past"
	"muster/regress/record"
)

func (p *program) runs() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "runs [flags]",
		Short: "List the past runs of this folder",
		Long: `Runs lists the past runs of this folder, the oldest first; the last twenty are
kept. Where a command takes a run's ID, the beginning of the ID will do.`,
		Example: "  muster runs\n  muster show a/b.go --run 20250131-14",
		Args:    noneWanted,
	}, []flagGroup{stateFlag, formatFlag}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		return past.Runs(c.Context(), *o, newHost(p))
	})
}

func (p *program) cases() *cobra.Command {
	var list past.CaseList
	c := p.command(&cobra.Command{
		Use:   "cases [CORPUS] [flags]",
		Short: "List the cases that would run",
		Long: `Cases lists the cases that a check with the same flags would run, one a line, in
corpus order. A golden limits them to its selection; --all-cases lifts that.
--failing lists only the cases that did not exit with 0 when they were recorded.`,
		Example: "  muster cases sources.tar --filter '!_test' --sample 10\n  muster cases --failing\n  muster cases -0 | xargs -0 -n1 echo",
	}, []flagGroup{corpusFlags, selectFlags, allCasesFlag, storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		if c.ArgsLenAtDash() >= 0 {
			return usagef("cases takes no command")
		}
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		names, err := past.Cases(c.Context(), *o, newHost(p), list)
		if err != nil {
			return err
		}
		w, end := bufio.NewWriter(newHost(p).Stdout), byte('\n')
		if list.Raw {
			w, end = bufio.NewWriter(p.stdout), 0
		}
		for _, n := range names {
			w.WriteString(n)
			w.WriteByte(end)
		}
		return w.Flush()
	})
	c.Flags().BoolVarP(&list.Raw, "null", "0", false, "print raw names, each ended by a NUL byte")
	c.Flags().BoolVar(&list.Failing, "failing", false, "list only cases that did not exit with 0 when they were recorded")
	return c
}

func (p *program) groups() *cobra.Command {
	var id, by string
	c := p.command(&cobra.Command{
		Use:   "groups [flags]",
		Short: "Group the differences by cause",
		Long: `Groups lists the causes of the differences of the last check, the most frequent first
(G1). Each has the number of its cases, of those without another cause, and of changed
lines, and names the case with the smallest source.

A family is causes that make a similar change at other places. Those in nearly the same
cases are one too: with X, or only in a.c. A bucket stands for several rare causes.`,
		Example: `  muster groups
  muster groups --by family
  muster groups --format json
  muster show G1`,
		Args: noneWanted,
	}, []flagGroup{stateFlag, formatFlag, runFlag(&id)}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		if by != "" && by != "family" {
			return usagef("--by takes family, and not %q", by)
		}
		return p.paged(c.Context(), o, func(h host.Host) error { return past.Groups(c.Context(), *o, h, id, by != "") })
	})
	c.Flags().StringVar(&by, "by", "", "list the causes of each `family` together: --by family")
	return c
}

func (p *program) show() *cobra.Command {
	var id string
	return p.command(&cobra.Command{
		Use:   "show NAME|G1 [flags]",
		Short: "Show one cause, or everything about one case",
		Long: `Show prints everything in which a case differed in the last check, and the one
shell line that runs it again by hand. If the last run was a record, it prints
the recorded outcome of the case. For a cause of muster groups it prints what
the cause is, edits of it in a few cases, and the cases that show it. If a case is
itself named G1, write ./G1.`,
		Example: `  muster show a/b.go
  muster show G1
  muster show a/b.go --run 20250131`,
		Args: oneArg("the name of a case, or a cause such as G1"),
	}, []flagGroup{stateFlag, runFlag(&id)}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return p.paged(c.Context(), o, func(h host.Host) error { return past.Show(c.Context(), *o, h, args[0], id) })
	}, causesAndCases)
}

func (p *program) diff() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "diff A.golden B.golden [flags]",
		Short: "Compare two goldens",
		Long: `Diff compares two goldens, files or at http(s) addresses, and reports as check does,
with A as the golden.`,
		Example: "  muster diff before.golden after.golden",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("diff wants two goldens")
			}
			return nil
		},
	}, []flagGroup{stateFlag, selectFlags, comparisonFlags, allowFlag, reportFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return finish(past.Diff(c.Context(), *o, newHost(p), args[0], args[1]))
	})
}

func (p *program) export() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "export DIR [flags]",
		Short: "Write the golden as plain files",
		Long: `Export writes DIR/<name>.case/{outcome.json,stdout,stderr,files/…} for every
case, without times, memory, machine or paths: two goldens are equal when their
exports are. DIR must be new or empty.`,
		Example: "  muster export golden-files\n  diff -r before-files golden-files",
		Args:    oneArg("a folder"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return goldens.Export(c.Context(), *o, newHost(p), args[0])
	})
}

func (p *program) importing() *cobra.Command {
	return p.command(&cobra.Command{
		Use:     "import DIR [flags]",
		Short:   "Make a golden from exported files",
		Long:    `Import is the way back from export, without cost figures. It replaces the golden.`,
		Example: "  muster import golden-files --golden copy.golden",
		Args:    oneArg("a folder"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return goldens.Import(c.Context(), *o, newHost(p), args[0])
	})
}

func (p *program) rerun() *cobra.Command {
	var failed bool
	c := p.command(&cobra.Command{
		Use:   "rerun [--failed] [flags]",
		Short: "Repeat the last run, or only its cases that were not identical",
		Long: `Rerun repeats the last record, check or compare with the options that it had. The flags
of rerun only choose reports, the state folder, the settings file and the engine.`,
		Example: "  muster rerun\n  muster rerun --failed",
		Args:    noneWanted,
	}, []flagGroup{stateFlag, reportFlags, remoteFlags}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		return work(c, o, newHost(p), func(ctx context.Context, o regress.Options, h host.Host) (regress.Summary, error) {
			again, command, err := past.RerunOptions(o, failed)
			if err != nil {
				return regress.Summary{}, err
			}
			switch command {
			case "record":
				return record.Run(ctx, again, h)
			case "compare":
				return check.Compare(ctx, again, h)
			}
			return check.Run(ctx, again, h)
		})
	})
	c.Flags().BoolVar(&failed, "failed", false, "run only the cases that were not identical")
	return c
}

func (p *program) accept() *cobra.Command {
	var a decide.AcceptOptions
	c := p.command(&cobra.Command{
		Use:   "accept G1...|NAME...|--family NAME|--all|--cases GLOB [flags]",
		Short: "Write new outcomes into the golden",
		Long: `Accept writes outcomes of the last check into the golden, all or nothing. It refuses if the
golden has changed since the check, except by other accepts from that check. For a golden
at an address, set MUSTER_TOKEN to the access token of its server.

Accepting a cause such as G1 of muster groups counts for this check only. A case enters
the golden once all its causes are accepted. If a case is itself named G1, write ./G1.
--family accepts the causes of a family of muster groups --by family. A bucket stands
for several rare causes; it is accepted, by its ID or with its family, only with --bucket.

--all skips cases that newly fail, crash or reach a limit; --failing accepts them too.
It also skips cases that the corpus no longer has; --missing drops them from the golden.
--cases accepts only cases that match one of its globs. --cases without a name or a cause
implies --all.

If you accept all differences of a check of all cases, the golden also gets the check's
command and settings. A plain check runs them from then on. --keep-command keeps the old
command in the golden.

The golden keeps who accepted, when, and the reason of -m. muster golden info and
muster show print these.`,
		Example: `  muster accept G1 G3
  muster accept --family 'removes before ;' --dry-run
  muster accept a/b.go a/c.go
  muster accept --all --dry-run
  muster accept --cases 'net/**' -m "the new resolver"
  muster accept --all --missing`,
	}, []flagGroup{stateFlag, acceptedFlags, runFlag(&a.Run)}, func(c *cobra.Command, o *regress.Options, args []string) error {
		a.Names = args
		_, err := decide.Accept(c.Context(), *o, newHost(p), a)
		return err
	}, causesAndCases)
	f := c.Flags()
	f.StringArrayVar(&a.Families, "family", nil, "accept the causes of the family `NAME`; repeatable")
	f.BoolVar(&a.Bucket, "bucket", false, "with causes and --family: accept also buckets")
	f.BoolVar(&a.All, "all", false, "accept everything that is not left out")
	f.BoolVar(&a.Failing, "failing", false, "with --all: accept also what crashed, failed newly or reached a limit")
	f.BoolVar(&a.Missing, "missing", false, "with --all: drop what the corpus no longer has")
	f.BoolVar(&a.DryRun, "dry-run", false, "only say what would be done")
	f.StringArrayVar(&a.Globs, "cases", nil, "accept only cases that match `GLOB`; repeatable")
	f.StringVarP(&a.Reason, "reason", "m", "", "keep `REASON` in the golden")
	f.StringVar(&a.Golden, "golden", "", "accept into the golden `FILE`, or the one at an address (default the one of the run)")
	f.BoolVar(&a.KeepCommand, "keep-command", false, "leave the golden's command as it is")
	onlyGiven(f, "cases", "family", "golden")
	return c
}

// anyAddress is the value of --web without an address.
const anyAddress = "127.0.0.1:0"

func (p *program) review() *cobra.Command {
	var r decide.ReviewOptions
	c := p.command(&cobra.Command{
		Use:   "review [--web [ADDR]] [flags]",
		Short: "Decide on the causes of a check, one by one or many at once",
		Long: `Review shows the causes of the last check beside their differences, and takes
decisions: accept, reject, skip. Nothing is written before you confirm it. Then the
decisions are kept with the run, and a case becomes part of the golden once all its
causes are accepted. Decisions can be changed later, but cases already in the golden
stay there.

In the terminal ? shows the keys. --web shows the same in a browser. It prints a link
that works once, and listens only on this machine. One page decides at a time; another
one reads, and can take over. The review ends when you finish it in the browser, or by
Ctrl-C.`,
		Example: `  muster review
  muster review --run 20250131
  muster review --web
  muster review --web 127.0.0.1:8080`,
		Args: func(c *cobra.Command, args []string) error {
			// a flag that may stand alone takes a value only after a '='
			if len(args) == 1 && c.Flag("web").Value.String() == anyAddress {
				return nil
			}
			return noneWanted(c, args)
		},
	}, []flagGroup{stateFlag, runFlag(&r.Run)}, func(c *cobra.Command, o *regress.Options, args []string) error {
		r.Web = r.Addr != ""
		if len(args) == 1 {
			r.Addr = args[0]
		}
		return decide.Review(c.Context(), *o, newHost(p), r)
	})
	f := c.Flags()
	f.StringVar(&r.Addr, "web", "", "decide in a browser; listen at `[ADDR]`, "+anyAddress+" if none is given")
	f.Lookup("web").NoOptDefVal = anyAddress
	return c
}
