package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
	"muster/regress/host"
)

func (p *program) golden() *cobra.Command {
	c := &cobra.Command{
		Use:   "golden",
		Short: "Describe, check, repair, merge and compact goldens",
		Long: `Golden describes, checks, repairs, merges and compacts goldens. Each command takes a
FILE; without it, --golden or muster.golden.`,
		Example: `  muster golden info                              print tool, corpus, accepts and sizes
  muster golden check                             read everything, and report damage
  muster golden merge a.golden b.golden --into muster.golden`,
		Args: unknownSubcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	addGroup(c, "Main", p.goldenInfo(), p.goldenCheck(), p.goldenRepair(), p.goldenMerge(), p.goldenCompact(), p.goldenText())
	return c
}

// onGolden reads [FILE] and calls do.
func (p *program) onGolden(do func(context.Context, regress.Options, host.Host) error) action {
	return func(c *cobra.Command, o *regress.Options, args []string) error {
		if len(args) > 0 {
			o.Store.Golden = args[0]
		}
		return do(c.Context(), *o, newHost(p))
	}
}

func (p *program) goldenInfo() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "info [FILE] [flags]",
		Short: "Describe a golden: origin, settings, accepts and sizes",
		Long: `Info prints the tool and the corpus that a golden was recorded with, the time, the
machine and the selection. It counts the cases and the flaky ones, and lists the accepts
since the record that the golden still has outcomes of. It prints the sizes of the file
and of its contents.`,
		Example: "  muster golden info\n  muster golden info old.golden --format json",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags, formatFlag}, p.onGolden(goldens.Info))
}

func (p *program) goldenCheck() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "check [FILE] [flags]",
		Short: "Read a whole golden and report damage",
		Long: `Check reads every content of a golden, its lists and its pages. It prints each case
that is damaged or has a content that does not match its digest. The exit status is 0 if
the golden is whole and 2 if it is damaged. Other commands read only the contents that
they need.`,
		Example: "  muster golden check\n  muster golden check backup.golden",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, p.onGolden(goldens.Check))
}

func (p *program) goldenRepair() *cobra.Command {
	drop := false
	c := p.command(&cobra.Command{
		Use:   "repair --drop [FILE] [flags]",
		Short: "Keep the whole cases of a damaged golden",
		Long: `Repair writes a golden of all whole cases: their row is undamaged, and all their
contents match their digests. It names the cases that it drops. It keeps the damaged file
as FILE.damaged, and refuses if that file exists already.

Repair needs a file that SQLite can open. It cannot repair a golden that is cut off, or
whose header, tables or description (command and flags) are damaged. It cannot name cases
on a page that cannot be read.`,
		Example: "  muster golden repair --drop",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		if !drop {
			return usagef("golden repair drops damaged cases: confirm that with --drop, or look first with muster golden check")
		}
		return p.onGolden(goldens.Repair)(c, o, args)
	})
	c.Flags().BoolVar(&drop, "drop", false, "drop the damaged cases")
	return c
}

func (p *program) goldenMerge() *cobra.Command {
	into, base := "", ""
	c := p.command(&cobra.Command{
		Use:   "merge A B... --into FILE [--base FILE] [flags]",
		Short: "Join the goldens of several partitions, or of two branches",
		Long: `Merge joins several goldens, such as those that the jobs of a CI recorded with
--partition. The result equals the golden of one record of everything.

Merge refuses goldens of different commands, tools, corpora or flags. It also refuses a
case with different outcomes in two goldens, and an incomplete set of partitions. The
error names each conflict.

With --base, merge joins the changes that two branches made to one golden. A is the golden
of your branch and B that of the other one. It refuses if both changed a case or a setting
in different ways. The last example sets up muster as a merge driver of git.`,
		Example: `  muster record src --partition hash:1/2 --golden 1.golden -- cc -S {in}
  muster record src --partition hash:2/2 --golden 2.golden -- cc -S {in}
  muster golden merge 1.golden 2.golden --into muster.golden
  git config merge.muster.driver "muster golden merge --config '' --base %O %A %B --into %A"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("golden merge needs two or more goldens")
			}
			return nil
		},
	}, []flagGroup{stateFlag}, func(c *cobra.Command, o *regress.Options, args []string) error {
		if into == "" {
			return usagef("golden merge needs a file to write to: add --into FILE")
		}
		if base != "" && len(args) != 2 {
			return usagef("golden merge --base needs exactly two goldens, not %d", len(args))
		}
		return goldens.Merge(c.Context(), *o, newHost(p), into, base, args)
	})
	c.Flags().StringVarP(&into, "into", "o", "", "write the golden to `FILE`")
	c.Flags().StringVar(&base, "base", "", "merge two branches, which both come from the golden in `FILE`")
	return c
}

func (p *program) goldenCompact() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "compact [FILE] [flags]",
		Short: "Free the unused space of a golden",
		Long: `Compact frees the space of contents that accepts have replaced. It writes a copy
beside the golden and renames it, so the disk needs room for both.`,
		Example: "  muster golden compact",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, p.onGolden(goldens.Compact))
}

func (p *program) goldenText() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "textconv [FILE] [flags]",
		Short: "Print a golden as text, for git diff",
		Long: `Textconv prints a golden as lines: its settings, the ending of each case, and the size
and SHA-256 of each part. Tabs separate the fields. Times, costs and the machine of the
record are left out. Each accept has a line with its author, time and reason.

With the two lines below, git diff shows which cases of a golden changed.`,
		Example: `  echo '*.golden diff=muster' >> .gitattributes
  git config diff.muster.textconv "muster golden textconv --config ''"`,
		Args: atMostOne("a golden"),
	}, []flagGroup{storeFlags}, p.onGolden(goldens.Text))
}
