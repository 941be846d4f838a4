package reapi

import (
	"context"
	"errors"
	"io"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// contentStore reads from an engine's CAS: small messages whole, contents as streams. Both
// functions are required. Several goroutines may call them.
type contentStore struct {
	read func(context.Context, blob.Digest) ([]byte, error)
	open func(context.Context, blob.Digest) (io.ReadCloser, error)
}

// resultOf returns the run's outcome as a lane would return it for the same case. It downloads
// nothing but the messages of changed folders. Contents are opened later by their digests, with
// ctx. Errors are of class Environment, and wrap the reader's error.
func (a *action) resultOf(ctx context.Context, resp response, store contentStore) (*exec.Result, error) {
	c := collector{action: a, ctx: ctx, store: store, budget: a.outputMax}
	ending, err := c.process(resp)
	if err == nil {
		err = checkStarted(a.program, resp.result)
	}
	if err == nil {
		err = c.files(resp)
	}
	switch {
	case err != nil && regress.ClassOf(err) != regress.None:
		return nil, err
	case err != nil:
		return nil, fault.Environmentf("result of %s: %w", name.Print(a.job.Source.Name), err)
	}
	if c.exceeded { // also for a run that timed out: a lane would have ended it before
		ending = regress.Ending{Kind: regress.OutputLimit}
	}
	cost, remote := fromMetadata(resp.result.GetExecutionMetadata())
	if remote.Cached = resp.cached; !resp.cached {
		addMeasured(&remote, resp)
	}
	r := exec.NewResult(outcome.Outcome{Ending: ending, ByStatus: outcome.HasTwoReadings(ending), Parts: c.parts}, cost, exec.NoLane, c.contents, nil)
	r.Engine = &remote
	return r, nil
}

// collector builds a result from a response, part by part in their final order.
type collector struct {
	*action
	ctx      context.Context
	store    contentStore
	budget   int64 // bytes that the case may still leave
	exceeded bool  // it left more
	parts    []outcome.Part
	contents []exec.Content
}

// process adds the results of the process itself: its ending, its output and its error output.
func (c *collector) process(resp response) (regress.Ending, error) {
	ending, err := c.ending(resp)
	if err == nil {
		err = c.stream(outcome.Stdout, resp.result.GetStdoutRaw(), resp.result.GetStdoutDigest())
	}
	if err == nil {
		err = c.stream(outcome.Stderr, resp.result.GetStderrRaw(), resp.result.GetStderrDigest())
	}
	return ending, err
}

// stream adds standard output or error. It is in the response itself, or is named by its
// digest.
func (c *collector) stream(place outcome.Place, raw []byte, d *repb.Digest) error {
	l := tree.Output{Part: outcome.Part{Key: outcome.Key{Place: place}}, Inline: raw, Inlined: true}
	own := blob.Of(raw).Digest
	l.Size, l.Digest = own.Size, own.Hash
	if d != nil {
		digest, err := blob.FromProto(d)
		switch {
		case err != nil:
			return err
		case len(raw) > 0 && own != digest:
			return errors.New("a stream does not match its digest")
		}
		l.Size, l.Digest, l.Inlined = digest.Size, digest.Hash, len(raw) > 0 || digest.Size == 0
	}
	if l.Size > c.budget { // an outcome always has both streams
		c.budget, c.exceeded = 0, true
		l = tree.Output{Part: outcome.Part{Key: l.Key, Digest: outcome.Of(nil)}, Inlined: true}
	}
	c.add(l)
	return nil
}

func (c *collector) files(resp response) error {
	compare := tree.Outputs{Before: c.work, Whole: c.whole, Paths: c.outputs, Read: c.store.read}
	left, err := compare.Of(c.ctx, resp.result)
	switch {
	case errors.Is(err, tree.ErrTooMany):
		c.exceeded = true
		return nil
	case errors.Is(err, tree.ErrNoFolder) && resp.timedOut:
		return nil // engines may drop all that it left
	case errors.Is(err, tree.ErrNoFolder):
		return fault.Environmentf("%s: the engine does not give back the whole work folder; name what the command writes by --remote-output", name.Print(c.job.Source.Name))
	case err != nil:
		return err
	}
	for _, l := range left {
		if c.counts != nil && !c.counts(l.Path) {
			continue
		}
		if l.Form == outcome.Regular && l.Size > c.budget {
			c.budget, c.exceeded = 0, true
			continue
		}
		c.add(l)
	}
	return nil
}

func (c *collector) add(l tree.Output) {
	if l.Form == outcome.Regular {
		c.budget -= l.Size
	}
	kept := exec.Content{Key: l.Key, Bytes: l.Inline}
	if !l.Inlined {
		digest := l.Blob()
		kept.Bytes, kept.Opener = nil, func() (io.ReadCloser, error) { return c.store.open(c.ctx, digest) }
	}
	c.parts, c.contents = append(c.parts, l.Part), append(c.contents, kept)
}
