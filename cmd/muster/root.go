package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/files"
	"muster/internal/terminal"
	"muster/internal/workflow"
	"muster/regress"
	"muster/regress/host"
)

// program is the surroundings of every command.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	isOnGitHub     bool // the runner of GitHub Actions reads the streams
	printsJSON     bool // on stdout
	annotates      bool // the command has --github and is on GitHub
}

// run is the whole program, without the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, isOnGitHub: workflow.Running(os.Getenv)}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}

// addGroup adds subcommands under a title of the help.
func addGroup(c *cobra.Command, title string, subs ...*cobra.Command) {
	c.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, sub := range subs {
		sub.GroupID = title
	}
	c.AddCommand(subs...)
}

func (p *program) root() *cobra.Command {
	cobra.EnableCommandSorting = false // in the order in which people need them
	root := &cobra.Command{
		Use:   "muster",
		Short: "Run a command over thousands of files and show what a change to it changes",
		Long: `muster runs a command over thousands of files, records every output, and shows exactly
what changes when you change the command.

The loop: record → check → groups → review → accept

A case is one file of the corpus, with the command that runs over it. Its outcome is the
exit status, standard output, standard error, and each file that the command wrote. The
golden keeps the recorded outcomes. A cause is one change that shows in many cases.`,
		Example: `  muster record corpus.tar -- gofmt {in}       record what the trusted command does
  muster check  corpus.tar -- gofmt -s {in}    run the changed one and compare
  muster groups                                group the differences by cause
  muster show   G1                             show one cause, or everything about one case
  muster review                                decide on the causes, one by one
  muster accept --all                          write the new outcomes into the golden`,
		Version:       versionLine(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cobra.AddTemplateFunc("flagUsages", flagUsages)
	root.SetUsageTemplate(usageTemplate)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	addGroup(root, "Main",
		p.record(), p.check(), watch(p), p.groups(), p.show(), p.accept(), p.review(), p.rerun(), p.compare(), p.runOne(), p.cases(),
		p.reduce(), p.bisect(), p.diff(), p.export(), p.importing(), p.golden(), p.runs(), p.merge(), initialise(p), examine(p))
	addGroup(root, "Service", p.serve(), p.load(), goCache(p))
	addGroup(root, "Measure", p.lab())
	root.AddCommand(p.version(), exitCodes(), manPages())
	root.SetHelpCommand(help())
	tameCompletion(root)
	root.Flags().Bool("version", false, "print the version") // else cobra uses -v for it
	return root
}

// unknownCommand refuses arguments of the program itself, and suggests a command.
func unknownCommand(c *cobra.Command, args []string) error {
	return refuseUnknown(c.Root(), args, "muster help")
}

// unknownSubcommand refuses arguments of a command that only has subcommands.
func unknownSubcommand(c *cobra.Command, args []string) error {
	return refuseUnknown(c, args, c.CommandPath()+" --help")
}

func refuseUnknown(c *cobra.Command, args []string, help string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return usagef("unknown command %q%s: %s lists the commands", args[0], suggest(args[0], names), help)
}

// flagError suggests a flag for one that a command does not have: another flag, or one of the
// command that it runs.
func flagError(c *cobra.Command, err error) error {
	meant, hint := "", ""
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		if strings.Contains(c.Use, "[-- COMMAND") && lacksDashes(os.Args) {
			hint = ", and those of COMMAND go after --"
		}
		return usagef("%w: %s --help lists the flags%s", err, c.CommandPath(), hint)
	}
	if name := unknown.GetSpecifiedName(); unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		if meant = suggest("--"+name, names); slices.Contains(names, "--engine") {
			meant = cmp.Or(engineHint(name), meant)
		}
	}
	if strings.Contains(c.Use, "[-- COMMAND") {
		hint = ", and those of COMMAND go after --"
	}
	return usagef("%w%s: %s --help lists the flags%s", err, meant, c.CommandPath(), hint)
}

// options returns the options that all commands share, before flags. With an error they can take flags, but
// start nothing.
func (p *program) options() (*regress.Options, error) {
	self, err := os.Executable()
	if err != nil {
		err = fmt.Errorf("muster cannot find its own file: %w: mount /proc", err)
	}
	o := &regress.Options{Helper: []string{self}, Version: thisBuild().version}
	o.Remote.Token, o.Remote.PlainToken = tokenOf(remoteTokenVariable)
	o.Remote.Headers = strings.FieldsFunc(os.Getenv(remoteHeaderVariable), func(r rune) bool { return r == '\n' })
	return o, err
}

// newHost returns the surroundings of commands in this process.
func newHost(p *program) host.Host {
	h := host.Host{Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, Files: access()}
	if !p.isOnGitHub {
		return h
	}
	if p.annotates {
		h.GitHub = &host.GitHub{Commands: p.stderr, Summary: os.Getenv("GITHUB_STEP_SUMMARY")}
	}
	guard := workflow.Guard
	if p.printsJSON {
		guard = workflow.GuardJSON
	}
	h.Stdout, h.Stderr = guarded(p.stdout, guard), guarded(p.stderr, workflow.Guard)
	return h
}

// guarded keeps commands of the runner out of a stream. The runner reads no regular file, and no
// terminal.
func guarded(w io.Writer, guard func(io.Writer) io.Writer) io.Writer {
	f, isFile := w.(*os.File)
	if !isFile {
		return guard(w)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() || terminal.Is(f) {
		return w
	}
	return guard(w)
}

// tokenVariable is the environment variable for the token, of client and server.
const tokenVariable = "MUSTER_TOKEN"

// remoteTokenVariable holds the engine's token. An engine usually has another operator than the
// team's server, so neither gets the other's token.
const remoteTokenVariable = "MUSTER_REMOTE_TOKEN"

// remoteHeaderVariable holds headers for the engine, K=V in each line. They may be secret, too.
const remoteHeaderVariable = "MUSTER_REMOTE_HEADER"

// access returns the credentials for servers. They are not settings: a token must not stand in
// a file that is shared.
func access() files.ClientOptions {
	token, plain := tokenOf(tokenVariable)
	return files.ClientOptions{Token: token, PlainToken: plain}
}

// tokenOf returns the token in a variable. It also reports whether the token may cross a
// network without TLS: the variable with the suffix _PLAIN is then 1.
func tokenOf(variable string) (token string, plain bool) {
	return os.Getenv(variable), os.Getenv(variable+"_PLAIN") == "1"
}

// finish turns the summary of a run into the error that carries its exit status.
func finish(sum regress.Summary, err error) error {
	if err != nil {
		return err
	}
	if sum.ExitStatus != 0 {
		return statusError(sum.ExitStatus)
	}
	return nil
}

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
