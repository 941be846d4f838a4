package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// AboutContents reports whether the engine clearly reports missing contents. Otherwise the
// error may mean something else.
func (m *MissingError) AboutContents() bool {
	return len(m.Digests) > 0 || aboutContents(status.Convert(m.err).Message())
}

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
	details := ""
	if w := (*detailedError)(nil); errors.As(err, &w) {
		err, details = w.error, "; "+w.details
	}
	if m := (*MissingError)(nil); errors.As(err, &m) {
		shown.message, hint = c.o.redacted(statusText(m.err)), c.o.hintOf(p, status.Convert(m.err))
	} else if isStatus(err) {
		shown.message, hint = c.o.redacted(statusText(err)), c.o.hintOf(p, status.Convert(err))
	} else if errors.Is(err, errStalled) {
		hint = "; does it hang, or lack threads? fewer jobs in [engine] leave an engine with few some for its workers"
	}
	shown.message = oneLine(shown.message) + oneLine(c.o.redacted(details))
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

// asMissing makes a MissingError of a status that is about contents, and returns nil for any
// other.
func asMissing(err error) error {
	s := status.Convert(err)
	ds := violations(s)
	switch {
	case len(ds) > 0, s.Code() == codes.FailedPrecondition && !aboutWorkers(s.Message()), s.Code() == codes.NotFound,
		s.Code() == codes.Internal && aboutContents(s.Message()):
		return &MissingError{ds, err}
	}
	return nil
}

// aboutContents detects engines that report a missing input as an internal error, as buildbox
// does: "Tree is not completely available from LocalCAS."
func aboutContents(text string) bool {
	return hasAny(strings.ToLower(text), "digest", "blob", "not found", "missing", "not completely available")
}

// aboutWorkers detects the other use of FAILED_PRECONDITION: no worker is available or allowed
// for an action. Reports of missing inputs have no common form, so every other text counts as
// one.
func aboutWorkers(text string) bool {
	return hasAny(strings.ToLower(text), "worker", "platform", "propert", "allowed")
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

// Bounds of an engine's log: the bytes that are shown, from its end, and those that are read.
const (
	logShown = 400
	logMax   = 256 << 10
)

// detailedError is an error with what the engine reported beside its status.
type detailedError struct {
	error
	details string
}

func (d *detailedError) Unwrap() error { return d.error }

// withDetails adds the engine's text to an error: its message and the ends of its logs.
func (c *Client) withDetails(ctx context.Context, err error, r *repb.ExecuteResponse) error {
	var details []string
	if text := r.GetMessage(); text != "" {
		details = append(details, text)
	}
	for _, key := range slices.Sorted(maps.Keys(r.GetServerLogs())) {
		if text := c.logTail(ctx, r.GetServerLogs()[key]); text != "" {
			details = append(details, "its log "+key+": "+text)
		}
	}
	if len(details) == 0 {
		return err
	}
	return &detailedError{err, strings.Join(details, "; ")}
}

// logTail returns "" if the log cannot be read or has nothing for people.
func (c *Client) logTail(ctx context.Context, l *repb.LogFile) string {
	d, err := blob.FromProto(l.GetDigest())
	if err != nil || !l.GetHumanReadable() || d.Size > logMax {
		return ""
	}
	text, err := c.Read(ctx, d)
	if err != nil {
		return ""
	}
	last := strings.ToValidUTF8(string(text[max(0, len(text)-logShown):]), "")
	return strings.Join(strings.Fields(last), " ")
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
	text := s.Message()
	switch s.Code() {
	case codes.Unavailable:
		return !refusedByTLS(text)
	case codes.ResourceExhausted:
		return !strings.Contains(text, tooLargeSign)
	case codes.Aborted, codes.Canceled, codes.DeadlineExceeded: // the caller has checked its own end before
		return true
	case codes.Internal, codes.Unknown:
		return brokenStream(text)
	}
	return false
}

// tooLargeSign is part of gRPC's text about a message's size.
const tooLargeSign = "larger than max"

// tooLarge reports whether one side refuses a message of that size.
func tooLarge(err error) bool {
	return status.Code(err) == codes.ResourceExhausted && strings.Contains(status.Convert(err).Message(), tooLargeSign)
}

// doubtful reports whether err may be temporary although most such errors are not: an internal
// error of an engine, perhaps of one of its workers.
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
	return errors.As(err, new(transient)) || code == codes.Unavailable || code == codes.DeadlineExceeded
}

// refusedByTLS distinguishes a rejected certificate from a server that went away meanwhile.
// gRPC passes on only a text.
func refusedByTLS(text string) bool {
	return hasAny(text, "x509: ", "tls: ")
}

// brokenStream distinguishes a broken connection, in the words of gRPC and proxies, from an
// internal error of the engine.
func brokenStream(text string) bool {
	return hasAny(text, "RST_STREAM", "EOF", "transport", "connection", "stream closed", "closed the stream", "GOAWAY")
}

// hasAny reports whether a text contains one of the signs.
func hasAny(text string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}
