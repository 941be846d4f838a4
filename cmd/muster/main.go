// Command muster runs a command over thousands of files, records every output, and shows
// exactly what changes when the command changes.
//
// This package turns flags into one call of a product's public package, and errors into exit
// statuses. It must hold nothing that another program would need.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/workflow"
	"muster/lab"
	"muster/regress"
	"muster/regress/check"
	"muster/regress/doctor"
)

func main() {
	err, stderr := runProcess(), io.Writer(os.Stderr)
	if workflow.Running(os.Getenv) {
		stderr = guarded(stderr, workflow.Guard) // an error may name a case
	}
	os.Exit(exitStatus(err, stderr))
}

// runProcess is the program in its process. It checks the system's limits before anything
// else: signals and the collection of garbage start threads, and without them the Go runtime
// ends the program.
func runProcess() error {
	if err := check.SystemLimits(); err != nil {
		return err
	}
	// This also discards the lines of package log. net/http logs there what a server sends unasked, and no
	// option of a transport prevents that.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx, stop := interruptible(context.Background())
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// interruptible returns a context that ends at a signal that asks the program to end.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	wanted := endingSignals()
	if len(wanted) == 0 { // without signals NotifyContext would catch all of them
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, wanted...)
}

// endingSignals lists the signals that ask the program to end: from the keyboard, a supervisor,
// or a closed terminal. It omits those that the caller has set to be ignored, as nohup does.
func endingSignals() (wanted []os.Signal) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			wanted = append(wanted, s)
		}
	}
	return wanted
}

// statusError is an exit status whose reason was printed already.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// exitStatus prints the error once, and returns its exit status.
func exitStatus(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	if status, is := errors.AsType[statusError](err); is {
		return int(status)
	}
	fmt.Fprintf(stderr, "muster: %s\n", errorText(err))
	if errors.As(err, new(*usageError)) || errors.As(err, new(*lab.InputError)) {
		return regress.Input.Status()
	}
	return regress.ClassOf(err).Status()
}

// usageError is a mistake in the command line or the configuration.
type usageError struct{ err error }

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

func examine(p *program) *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "doctor [flags]",
		Short: "Examine what works on this machine, and say what helps",
		Long: `Doctor starts lanes as a check would, with the same number of jobs, and runs one case. It
prints what works, what is limited, and what fails, and how to fix it.
It also looks for io_uring and threads in C, which serve can use, and for the compilers
of lab. The exit status is 0 if record and check work on this machine, and 3 if not.`,
		Example: "  muster doctor\n  muster doctor --jobs 16 --memory 2G",
		Args:    noneWanted,
	}, []flagGroup{stateFlag, examinedFlags}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		list, err := doctor.Examine(c.Context(), *o)
		if err != nil {
			return err
		}
		compilers, err := lab.Compilers(c.Context())
		if err != nil {
			return err
		}
		list = append(list, engineFindings()...)
		for _, found := range compilers {
			f := doctor.Finding{Name: found.Language, For: doctor.Lab, Text: found.Version}
			if m := found.Missing; m != nil {
				f.State, f.Text, f.Mend = doctor.Limited, "no contestants in "+found.Language+": "+m.Reason, m.Install
			}
			list = append(list, f)
		}
		if err := doctor.Write(p.stdout, list); err != nil {
			return err
		}
		if !doctor.CanRunCases(list) {
			return statusError(regress.StatusEnvironment)
		}
		return nil
	})
}

// examinedFlags are limits of a run, which doctor only examines.
func examinedFlags(f *pflag.FlagSet, o *regress.Options) {
	jobsFlag(f, o)
	memoryFlag(f, o)
	f.Lookup("jobs").Usage = "examine the machine for `N` cases at once"
	f.Lookup("memory").Usage = "examine the machine for cases that may use `SIZE` of memory each; 0 = no limit (default 0)"
}

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noneWanted,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.stdout, versionLine())
			return err
		},
		DisableFlagsInUseLine: true,
	}
}

func versionLine() string {
	b := thisBuild()
	commit := ""
	if b.commit != "" {
		commit = " (commit " + b.commit + ")"
	}
	return fmt.Sprintf("muster %s%s %s %s/%s", b.version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// build is what Go keeps in a program about its origin. Go takes all of it from git: the version
// from the last tag, so that a release needs no flags.
type build struct{ version, commit, day string }

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{version: "unknown"}
	}
	b := build{version: info.Main.Version}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.day, _, _ = strings.Cut(s.Value, "T")
		}
	}
	return b
}
