package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

// MissingError wraps errors about contents that the engine does not have, or no longer has. The
// caller can upload them, or execute the action that makes them, and try again.
type MissingError struct {
	Digests []blob.Digest // empty if the engine does not name them
	err     error
}

func (m *MissingError) Error() string { return m.err.Error() }
func (m *MissingError) Unwrap() error { return m.err }

// failed returns the error for a caller: of class Environment, with the engine's name and
// words.
func (c *Client) failed(p purpose, err error) error { return c.failedAfter(p, err, 1, 0) }

// failedAfter adds the number of attempts and their duration.
func (c *Client) failedAfter(p purpose, err error, n int, took time.Duration) error {
	if errors.Is(err, context.Canceled) || regress.ClassOf(err) == regress.Input {
		return err
	}
	tries := ""
	if n > 1 {
		tries = fmt.Sprintf(" (%s in %s)", readable.Count(n, "attempt"), readable.Duration(took))
	}
	hint, shown := "", &rewordedError{err.Error(), err}
	if m := (*MissingError)(nil); errors.As(err, &m) {
		shown.message, hint = c.o.redacted(statusText(m.err)), c.o.hintOf(p, status.Convert(m.err))
	} else if isStatus(err) {
		shown.message, hint = c.o.redacted(statusText(err)), c.o.hintOf(p, status.Convert(err))
	} else if errors.Is(err, errStalled) {
		hint = "; does it hang, or lack threads? fewer jobs in [engine] leave an engine with few some for its workers"
	}
	shown.message = oneLine(shown.message)
	return fault.Environmentf("engine %s, %s%s: %w%s", c.o.URL, p, tries, shown, hint)
}

// messageShown is the number of bytes that are shown of an engine's message.
const messageShown = 500

// oneLine returns the text of an engine as one line, without control characters.
func oneLine(text string) string {
	if len(text) > messageShown {
		text = strings.ToValidUTF8(text[:messageShown], "") + " …"
	}
	return readable.Line(text)
}

// rewordedError is an error with another text.
type rewordedError struct {
	message string
	err     error
}

func (e *rewordedError) Error() string { return e.message }
func (e *rewordedError) Unwrap() error { return e.err }

// statusText returns the text of a status without gRPC's own words.
func statusText(err error) string {
	s, ok := status.FromError(err)
	if !ok {
		return err.Error()
	}
	text := s.Message()
	if inner, ok := strings.CutPrefix(text, "connection error: desc = "); ok {
		if unquoted, err := strconv.Unquote(inner); err == nil {
			text = strings.TrimPrefix(strings.TrimPrefix(unquoted, "transport: "), "Error while dialing: ")
			text = strings.TrimPrefix(text, "authentication handshake failed: tls: failed to verify certificate: x509: ")
			text, _, _ = strings.Cut(text, " (possibly because of ")
		}
	}
	return fmt.Sprintf("%s: %s", s.Code(), text)
}

// secretMin is the smallest length of a secret in bytes. Shorter words are part of many others.
const secretMin = 6

// redacted removes secrets that the engine may have repeated from a text.
func (o Options) redacted(text string) string {
	secrets := []string{o.Token}
	for _, h := range o.Headers {
		secrets = append(secrets, h.Value)
	}
	for _, secret := range secrets {
		if len(secret) >= secretMin {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// Unreachable reports whether an error means that no engine answers. A refusal is an answer.
func Unreachable(err error) bool {
	s := status.Convert(err)
	var own interface{ GRPCStatus() *status.Status }
	if errors.As(err, &own) { // Convert replaces the message of a wrapped status by the wrapper's text
		s = own.GRPCStatus()
	}
	return (s.Code() == codes.Unavailable || s.Code() == codes.DeadlineExceeded) && !refusedByTLS(s.Message())
}

// asMissing makes a MissingError of a status by which engines report missing inputs, and returns nil for any
// other. buildbox uses INTERNAL. FAILED_PRECONDITION may also mean that no worker fits, and INTERNAL that a worker
// failed. Sending the inputs again does no harm then.
func asMissing(err error) error {
	switch s := status.Convert(err); s.Code() {
	case codes.FailedPrecondition, codes.NotFound, codes.Internal:
		return &MissingError{violations(s), err}
	}
	return nil
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

// subject parses "blobs/HASH/SIZE". Some engines put the instance's name before it.
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

// transient is an error on this side that another attempt may mend.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// errNoAnswer is a transient error of a batch.
var errNoAnswer = errors.New("it did not answer for every content")

// retryable reports whether a failed request may succeed by itself if it is repeated.
func retryable(err error) bool {
	if errors.As(err, new(transient)) {
		return true
	}
	s, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch s.Code() {
	case codes.Unavailable:
		return !refusedByTLS(s.Message())
	case codes.ResourceExhausted:
		return !tooLarge(s)
	case codes.Aborted, codes.Canceled, codes.DeadlineExceeded: // the caller has checked its own end before
		return true
	}
	return false
}

// tooLarge detects gRPC's own refusal of a message. An engine that has too much to do uses the same code.
func tooLarge(s *status.Status) bool {
	return s.Code() == codes.ResourceExhausted && strings.Contains(s.Message(), "larger than max")
}

// doubtful reports whether err may be temporary although many such errors are not: a broken connection, or an
// internal error of an engine, perhaps of one of its workers.
func doubtful(err error) bool {
	if m := (*MissingError)(nil); errors.As(err, &m) {
		return false // its caller can mend it
	}
	code := status.Code(err)
	return (code == codes.Internal || code == codes.Unknown) && isStatus(err)
}

func isStatus(err error) bool {
	_, ok := status.FromError(err)
	return ok
}

// unanswered reports whether an attempt had no answer, or only that of a proxy.
func unanswered(err error) bool {
	code := status.Code(err)
	return errors.Is(err, errStalled) || code == codes.Unavailable || code == codes.DeadlineExceeded
}

// refusedByTLS distinguishes a rejected certificate from a server that went away meanwhile.
// gRPC passes on only a text.
func refusedByTLS(text string) bool {
	return hasAny(text, "x509: ", "tls: ")
}

// hasAny reports whether a text contains one of the signs.
func hasAny(text string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}
