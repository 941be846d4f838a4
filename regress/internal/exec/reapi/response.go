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

// response is the result of an action: an ExecuteResponse, or an ActionResult from the engine's
// cache.
type response struct {
	result   *repb.ActionResult
	timedOut bool // the engine ended it at the action's timeout
	cached   bool
	asked    time.Duration // time from the request to the result of an execution; 0 = not known
}

// responseOf extracts a response from a message. A message without the command's result is an
// error of class Environment.
func responseOf(message *repb.ExecuteResponse) (response, error) {
	resp := response{result: message.GetResult(), cached: message.GetCachedResult()}
	switch code := codes.Code(message.GetStatus().GetCode()); {
	case code == codes.DeadlineExceeded && resp.result != nil:
		resp.timedOut = true
	case code != codes.OK:
		return resp, fault.Environmentf("the engine did not run it: %v: %s", code, name.Print(message.GetStatus().GetMessage()))
	case resp.result == nil:
		return resp, fault.Environmentf("the engine reports that the case ran, but sends no result")
	}
	return resp, nil
}

// ending returns how the command ended. The API only has an exit status. If a shell would make
// that status of a signal, ending returns the signal. It keeps the status of a command that runs
// in a shell, because the shell reports a signal within its script in this way.
func (a *action) ending(resp response) (regress.Ending, error) {
	code := int(resp.result.GetExitCode())
	signal, signalled := outcome.SignalOf(code)
	switch {
	case resp.timedOut:
		return regress.Ending{Kind: regress.TimedOut}, nil
	case code < 0:
		return regress.Ending{}, fault.Environmentf("%s: the engine reports exit status %d, which no command has: the run is incomplete", name.Print(a.job.Source.Name), code)
	case signalled && !a.job.Command.Shell:
		return regress.Ending{Kind: regress.Signalled, Code: signal}, nil
	}
	return regress.Ending{Kind: regress.Exited, Code: code}, nil
}
