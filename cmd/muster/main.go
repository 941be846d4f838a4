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
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"muster/internal/workflow"
	"muster/lab"
	"muster/regress"
	"muster/regress/check"
)

func main() {
	err, stderr := runProcess(), io.Writer(os.Stderr)
	if isOnGitHub(regress.GitHubAuto) {
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
	var status statusError
	if errors.As(err, &status) {
		return int(status)
	}
	fmt.Fprintf(stderr, "muster: %s\n", errorText(err))
	var usage *usageError
	var mistake *lab.InputError
	if errors.As(err, &usage) || errors.As(err, &mistake) {
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
	return fmt.Sprintf("muster %s %s %s/%s", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText describes the build.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && text == "(devel)" {
			text = "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return text
}
