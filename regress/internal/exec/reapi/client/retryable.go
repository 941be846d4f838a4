package client

import (
	"errors"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

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
