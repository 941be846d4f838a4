package client

import (
	"context"
	"maps"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
)

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
