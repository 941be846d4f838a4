package reapi

import (
	"context"
	"errors"
	"io"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Contents is how what an engine holds is read: a small message whole, a content as a
// stream. Both must be set, and may be called by several goroutines.
type Contents struct {
	Read func(context.Context, blob.Digest) ([]byte, error)
	Open func(context.Context, blob.Digest) (io.ReadCloser, error)
}

// Came is what an action's execution gave, in the terms of the engine: a response to
// Execute, or a result that the engine knew.
type Came struct {
	Result   *repb.ActionResult
	TimedOut bool // the engine ended it at the action's timeout
	Cached   bool
	Asked    time.Duration // until it came, of what was executed; 0 = not known
}

// CameOf takes what counts from a response. One that has no result of the command is of
// class Environment.
func CameOf(r *repb.ExecuteResponse) (Came, error) {
	c := Came{Result: r.GetResult(), Cached: r.GetCachedResult()}
	switch code := codes.Code(r.GetStatus().GetCode()); {
	case code == codes.DeadlineExceeded && c.Result != nil:
		c.TimedOut = true
	case code != codes.OK:
		return c, fault.Environmentf("the engine did not run it: %v: %s", code, name.Print(r.GetStatus().GetMessage()))
	case c.Result == nil:
		return c, fault.Environmentf("the engine says that it ran it, and has no result")
	}
	return c, nil
}

// Result is the run's outcome, as a lane has it of the same case. Nothing is downloaded but
// the messages of folders that changed: contents are opened by the parts' digests, with ctx,
// when somebody asks. Errors are of class Environment, with the reader's in their chain.
func (a *Action) Result(ctx context.Context, c Came, contents Contents) (*exec.Result, error) {
	t := taking{Action: a, ctx: ctx, contents: contents, room: a.s.OutputMax}
	ending, err := a.ending(c)
	if err == nil {
		err = started(a.starts, c.Result)
	}
	if err == nil {
		err = t.stream(outcome.Stdout, c.Result.GetStdoutRaw(), c.Result.GetStdoutDigest())
	}
	if err == nil {
		err = t.stream(outcome.Stderr, c.Result.GetStderrRaw(), c.Result.GetStderrDigest())
	}
	if err == nil {
		err = t.files(c)
	}
	switch {
	case err != nil && fault.ClassOf(err) != fault.None:
		return nil, err
	case err != nil:
		return nil, fault.Environmentf("what the engine says of %s: %w", name.Print(a.job.Source.Name), err)
	}
	if t.over { // also of one that was out of time: a lane would have ended it before
		ending = outcome.Ending{Kind: outcome.OutputLimit}
	}
	cost, remote := figures(c.Result.GetExecutionMetadata())
	if remote.Cached = c.Cached; !c.Cached {
		measured(&remote, c)
	}
	r := exec.NewResult(outcome.Outcome{Ending: ending, Parts: t.parts}, cost, exec.NoLane, t.kept, nil)
	r.Remote = &remote
	return r, nil
}

// signalBase is what engines add to a signal's number, as shells do.
const (
	signalBase = 128
	signalMax  = 64
)

// ending is how the command ended. The API has an exit status alone: what is above 128 by a
// signal's number is that signal, but for a shell, of which it says that a command in its
// script ended so.
func (a *Action) ending(c Came) (outcome.Ending, error) {
	code := int(c.Result.GetExitCode())
	switch {
	case c.TimedOut:
		return outcome.Ending{Kind: outcome.TimedOut}, nil
	case code < 0:
		return outcome.Ending{}, fault.Environmentf("%s: the engine says exit %d, which no command has: it did not run it to its end", name.Print(a.job.Source.Name), code)
	case code > signalBase && code <= signalBase+signalMax && !a.job.Command.Shell:
		return outcome.Ending{Kind: outcome.Signalled, Code: code - signalBase}, nil
	}
	return outcome.Ending{Kind: outcome.Exited, Code: code}, nil
}

// OneStatus reports whether engines give two endings by the same exit status: a signal, and
// an exit that a shell would make of it.
func OneStatus(a, b outcome.Ending) bool {
	status, ok := statusOf(a)
	other, ok2 := statusOf(b)
	return ok && ok2 && status == other
}

func statusOf(e outcome.Ending) (code int, ok bool) {
	switch e.Kind {
	case outcome.Exited:
		return e.Code, true
	case outcome.Signalled:
		return signalBase + e.Code, true
	}
	return 0, false
}

// taking is a result in the making. Its parts come in their final order.
type taking struct {
	*Action
	ctx      context.Context
	contents Contents
	room     int64 // bytes that the case may still leave
	over     bool  // it left more
	parts    []outcome.Part
	kept     []exec.Content
}

// stream takes standard output or error, which comes with the result or by its digest.
func (t *taking) stream(place outcome.Place, raw []byte, d *repb.Digest) error {
	l := tree.Left{Part: outcome.Part{Key: outcome.Key{Place: place}}, Inline: raw, Here: true}
	own := blob.Of(raw).Digest
	l.Size, l.Digest = own.Size, own.Hash
	if d != nil {
		digest, err := blob.FromProto(d)
		switch {
		case err != nil:
			return err
		case len(raw) > 0 && own != digest:
			return errors.New("a stream is not what its digest says")
		}
		l.Size, l.Digest, l.Here = digest.Size, digest.Hash, len(raw) > 0 || digest.Size == 0
	}
	if l.Size > t.room { // both streams are always there
		t.room, t.over = 0, true
		l = tree.Left{Part: outcome.Part{Key: l.Key, Digest: outcome.Of(nil)}, Here: true}
	}
	t.take(l)
	return nil
}

func (t *taking) files(c Came) error {
	compare := tree.Compare{Given: t.work, Whole: t.s.Whole != NotWhole, Asked: t.asked, Read: t.contents.Read}
	left, err := compare.Files(t.ctx, c.Result)
	switch {
	case errors.Is(err, tree.ErrTooMany):
		t.over = true
		return nil
	case errors.Is(err, tree.ErrNoFolder) && c.TimedOut:
		return nil // engines may give up all that it left
	case errors.Is(err, tree.ErrNoFolder):
		return fault.Environmentf("%s: the engine does not give back the whole work folder; name what the command writes by --remote-output", name.Print(t.job.Source.Name))
	case err != nil:
		return err
	}
	for _, l := range left {
		if t.counts != nil && !t.counts(l.Path) {
			continue
		}
		if l.Form == outcome.Regular && l.Size > t.room {
			t.room, t.over = 0, true
			continue
		}
		t.take(l)
	}
	return nil
}

func (t *taking) take(l tree.Left) {
	if l.Form == outcome.Regular {
		t.room -= l.Size
	}
	kept := exec.Content{Key: l.Key, Bytes: l.Inline}
	if !l.Here {
		digest := l.Blob()
		kept.Bytes, kept.Opener = nil, func() (io.ReadCloser, error) { return t.contents.Open(t.ctx, digest) }
	}
	t.parts, t.kept = append(t.parts, l.Part), append(t.kept, kept)
}
