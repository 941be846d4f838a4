package client

import (
	"context"
	"maps"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
)

// Of an engine's log so much is shown, from its end, and so large a one is read, in bytes.
const (
	logShown = 400
	logMax   = 256 << 10
)

// worded is an error with what the engine said beside it.
type worded struct {
	error
	more string
}

func (w *worded) Unwrap() error { return w.error }

// told adds to an error what the engine says in words: its message and the ends of its logs.
func (c *Client) told(ctx context.Context, err error, r *repb.ExecuteResponse) error {
	var more []string
	if text := r.GetMessage(); text != "" {
		more = append(more, text)
	}
	for _, key := range slices.Sorted(maps.Keys(r.GetServerLogs())) {
		if text := c.logOf(ctx, r.GetServerLogs()[key]); text != "" {
			more = append(more, "its log "+key+": "+text)
		}
	}
	if len(more) == 0 {
		return err
	}
	return &worded{err, strings.Join(more, "; ")}
}

// logOf is empty where there is nothing for people, or it cannot be had.
func (c *Client) logOf(ctx context.Context, l *repb.LogFile) string {
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
