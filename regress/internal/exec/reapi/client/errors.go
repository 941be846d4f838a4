package client

import (
	"context"
	"errors"
	"fmt"
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

// MissingError is in the chain of an error about contents that the engine has not, or no longer:
// they can be uploaded, or made by another execution, and what failed tried again.
type MissingError struct {
	Digests []blob.Digest // none when the engine does not say which
	err     error
}

func (m *MissingError) Error() string { return m.err.Error() }
func (m *MissingError) Unwrap() error { return m.err }

// AboutContents reports whether the engine says that it is about contents: else it may mean
// something else.
func (m *MissingError) AboutContents() bool {
	return len(m.Digests) > 0 || aboutContents(status.Convert(m.err).Message())
}

// failed is the error for a caller: of class Environment, with the engine's name and words.
func (c *Client) failed(p purpose, err error) error { return c.failedAfter(p, err, 1, 0) }

// failedAfter says also how often it was tried, for how long.
func (c *Client) failedAfter(p purpose, err error, n int, took time.Duration) error {
	if errors.Is(err, context.Canceled) || regress.ClassOf(err) == regress.Input {
		return err
	}
	tries := ""
	if n > 1 {
		tries = fmt.Sprintf(" (%s in %s)", readable.Count(n, "attempt"), readable.Duration(took))
	}
	hint, shown := "", &reworded{err.Error(), err}
	details := ""
	if w := (*detailed)(nil); errors.As(err, &w) {
		err, details = w.error, "; "+w.details
	}
	if m := (*MissingError)(nil); errors.As(err, &m) {
		shown.message, hint = c.o.redacted(statusText(m.err)), c.o.hintOf(p, status.Convert(m.err))
	} else if isStatus(err) {
		shown.message, hint = c.o.redacted(statusText(err)), c.o.hintOf(p, status.Convert(err))
	} else if errors.Is(err, errStalled) {
		hint = "; does it hang, or lack threads? fewer --remote-jobs leave an engine with few some for its workers"
	}
	shown.message = oneLine(shown.message) + oneLine(c.o.redacted(details))
	return fault.Environmentf("engine %s, %s%s: %w%s", c.o.URL, p, tries, shown, hint)
}

// messageShown is how much of an engine's message is shown, in bytes.
const messageShown = 500

// oneLine makes a line of what an engine says. It cannot drive a terminal: it may be anything.
func oneLine(text string) string {
	if len(text) > messageShown {
		text = strings.ToValidUTF8(text[:messageShown], "") + " …"
	}
	return readable.Line(text)
}

// reworded shows an error by another message.
type reworded struct {
	message string
	err     error
}

func (e *reworded) Error() string { return e.message }
func (e *reworded) Unwrap() error { return e.err }

// statusText is a status without gRPC's own words around it.
func statusText(err error) string {
	s, ok := status.FromError(err)
	if !ok {
		return err.Error()
	}
	text := s.Message()
	if inner, ok := strings.CutPrefix(text, "connection error: desc = "); ok {
		if unquoted, err := strconv.Unquote(inner); err == nil {
			text = strings.TrimPrefix(strings.TrimPrefix(unquoted, "transport: "), "Error while dialing: ")
		}
	}
	return fmt.Sprintf("%s: %s", s.Code(), text)
}

// secretMin is the length, in bytes, from which on a word is a secret: a shorter one hides
// nothing, and is in many words.
const secretMin = 6

// redacted is a text without what only the engine may know, which may have repeated it.
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

// Unreachable reports whether an error is that there is no engine, or none that answers: not
// one that refuses.
func Unreachable(err error) bool {
	s := status.Convert(err)
	return (s.Code() == codes.Unavailable || s.Code() == codes.DeadlineExceeded) && !refusedByTLS(s.Message())
}

// asMissing makes a MissingError of a status that is about contents; nil is about something else.
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

// aboutContents is for engines that state a missing input as an error of their own, as
// buildbox does: "Tree is not completely available from LocalCAS."
func aboutContents(text string) bool {
	return hasAny(strings.ToLower(text), "digest", "blob", "not found", "missing", "not completely available")
}

// aboutWorkers is for the other use of FAILED_PRECONDITION: that no worker can be had for an
// action, or is allowed to it. What engines say of missing inputs is not so known, so all
// else is taken to be about those.
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
