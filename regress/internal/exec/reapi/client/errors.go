package client

import (
	"context"
	"errors"
	"strconv"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// Missing is in the chain of an error about contents that the engine has not, or no longer:
// they can be uploaded, or made by another execution, and what failed tried again.
type Missing struct {
	Digests []blob.Digest // none when the engine does not say which
	err     error
}

func (m *Missing) Error() string { return m.err.Error() }
func (m *Missing) Unwrap() error { return m.err }

// failed is the error for a caller: of class Environment, with the engine's name and words.
func (c *Client) failed(what string, err error) error {
	if errors.Is(err, context.Canceled) || fault.ClassOf(err) == fault.Input {
		return err
	}
	if g := (interface{ GRPCStatus() *status.Status })(nil); errors.As(err, &g) {
		return fault.Environmentf("engine %s, %s: %s%w", c.o.URL, what, hint(g.GRPCStatus()), &said{g.GRPCStatus(), err})
	}
	return fault.Environmentf("engine %s, %s: %w", c.o.URL, what, err)
}

// said shows a status without gRPC's own words around it, and what the engine said beside it.
type said struct {
	s   *status.Status
	err error
}

func (e *said) Error() string {
	text := e.s.Code().String() + ": " + oneLine(e.s.Message())
	if w := (*worded)(nil); errors.As(e.err, &w) {
		text += "; " + w.more
	}
	return text
}

func (e *said) Unwrap() error { return e.err }

// oneLine is what an engine says, as it can be shown anywhere.
func oneLine(text string) string { return name.Print(strings.Join(strings.Fields(text), " ")) }

// Unreachable reports whether an error is that there is no engine, or none that answers: not
// one that refuses.
func Unreachable(err error) bool {
	s := status.Convert(err)
	return (s.Code() == codes.Unavailable || s.Code() == codes.DeadlineExceeded) && !refusedByTLS(s.Message())
}

func hint(s *status.Status) string {
	switch {
	case s.Code() == codes.Unauthenticated:
		return "it refused the token: "
	case refusedByTLS(s.Message()):
		return "no secure connection: "
	case strings.Contains(s.Message(), "server preface"):
		return "no gRPC without TLS is spoken there (is it grpcs://?): "
	}
	return ""
}

// missingOf makes a Missing of a status that is about contents; nil is about something else.
func missingOf(err error) error {
	s := status.Convert(err)
	ds := violations(s)
	switch {
	case len(ds) > 0, s.Code() == codes.FailedPrecondition && !aboutWorkers(s.Message()), s.Code() == codes.NotFound,
		s.Code() == codes.Internal && aboutContents(s.Message()):
		return &Missing{ds, err}
	}
	return nil
}

// aboutContents is for engines that state a missing input as an error of their own, as
// buildbox does: "Tree is not completely available from LocalCAS."
func aboutContents(text string) bool {
	text = strings.ToLower(text)
	for _, sign := range []string{"digest", "blob", "not found", "missing", "not completely available"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// aboutWorkers is for the other use of FAILED_PRECONDITION: that no worker can be had for an
// action, or is allowed to it. What engines say of missing inputs is not so known, so all
// else is taken to be about those.
func aboutWorkers(text string) bool {
	text = strings.ToLower(text)
	for _, sign := range []string{"worker", "platform", "propert", "allowed"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

func violations(s *status.Status) (ds []blob.Digest) {
	for _, detail := range s.Details() {
		failure, ok := detail.(*errdetails.PreconditionFailure)
		if !ok {
			continue
		}
		for _, v := range failure.GetViolations() {
			if d, ok := subject(v.GetSubject()); ok && v.GetType() == "MISSING" {
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// subject reads "blobs/HASH/SIZE"; some engines leave the instance's name before it.
func subject(text string) (d blob.Digest, ok bool) {
	words := strings.Split(text, "/")
	if len(words) < 3 || words[len(words)-3] != "blobs" {
		return d, false
	}
	size, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		return d, false
	}
	d, err = blob.FromProto(&repb.Digest{Hash: words[len(words)-2], SizeBytes: size})
	return d, err == nil
}
