package client

import (
	"errors"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// transient is an error of this side that another attempt may mend.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// errNoAnswer is transient, of a batch.
var errNoAnswer = errors.New("it did not answer for every content")

// retryable reports whether what failed may succeed by itself if tried again.
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
	case codes.Aborted, codes.Canceled, codes.DeadlineExceeded: // the caller's own end is looked at before
		return true
	case codes.Internal, codes.Unknown:
		return brokenStream(text)
	}
	return false
}

// tooLargeSign is in what gRPC says of a message.
const tooLargeSign = "larger than max"

// tooLarge reports whether one side does not take a message of that size.
func tooLarge(err error) bool {
	return status.Code(err) == codes.ResourceExhausted && strings.Contains(status.Convert(err).Message(), tooLargeSign)
}

// doubtful reports whether err may pass, though most like it do not: an engine in trouble of
// its own, perhaps with one worker of many.
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

// unanswered reports whether an attempt had no answer, or that of somebody between.
func unanswered(err error) bool {
	code := status.Code(err)
	return errors.As(err, new(transient)) || code == codes.Unavailable || code == codes.DeadlineExceeded
}

// refusedByTLS tells a certificate that will not do from a server that went away meanwhile.
// gRPC has no more than a text.
func refusedByTLS(text string) bool {
	return hasAny(text, "x509: ", "tls: ")
}

// brokenStream tells a connection that broke, as gRPC and proxies put it, from an engine in
// trouble.
func brokenStream(text string) bool {
	return hasAny(text, "RST_STREAM", "EOF", "transport", "connection", "stream closed", "closed the stream", "GOAWAY")
}

// hasAny reports whether a text has one of the signs by which it is known, as written there.
func hasAny(text string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}
