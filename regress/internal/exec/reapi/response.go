package reapi

import (
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// response is what came of an action: an ExecuteResponse, or an ActionResult from the
// engine's cache.
type response struct {
	result   *repb.ActionResult
	timedOut bool // the engine ended it at the action's timeout
	cached   bool
	asked    time.Duration // until it came, of what was executed; 0 = not known
}

// responseOf takes what counts from a message. One that has no result of the command is of
// class Environment.
func responseOf(message *repb.ExecuteResponse) (response, error) {
	resp := response{result: message.GetResult(), cached: message.GetCachedResult()}
	switch code := codes.Code(message.GetStatus().GetCode()); {
	case code == codes.DeadlineExceeded && resp.result != nil:
		resp.timedOut = true
	case code != codes.OK:
		return resp, fault.Environmentf("the engine did not run it: %v: %s", code, name.Print(message.GetStatus().GetMessage()))
	case resp.result == nil:
		return resp, fault.Environmentf("the engine says that it ran it, and has no result")
	}
	return resp, nil
}

// ending is how the command ended. The API has an exit status alone: one that shells make of
// a signal is that signal, but for a shell, of which it says that a command in its script
// ended so.
func (a *action) ending(resp response) (regress.Ending, error) {
	code := int(resp.result.GetExitCode())
	signal, signalled := outcome.SignalOf(code)
	switch {
	case resp.timedOut:
		return regress.Ending{Kind: regress.TimedOut}, nil
	case code < 0:
		return regress.Ending{}, fault.Environmentf("%s: the engine says exit %d, which no command has: it did not run it to its end", name.Print(a.job.Source.Name), code)
	case signalled && !a.job.Command.Shell:
		return regress.Ending{Kind: regress.Signalled, Code: signal}, nil
	}
	return regress.Ending{Kind: regress.Exited, Code: code}, nil
}
