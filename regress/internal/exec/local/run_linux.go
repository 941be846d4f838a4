package local

import (
	"context"
	"os"
	"path/filepath"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/lane"
)

// run runs a case on this lane.
func (w *worker) run(ctx context.Context, o *Options, job exec.Job) (*exec.Result, error) {
	// A cancelled case is ended by hanging up: the helper kills what it
	// started. The lane is then gone, as is the run.
	stop := context.AfterFunc(ctx, w.hangUp)
	defer stop()
	request := lane.Job{
		Source: item(job.Source), Path: job.Command.Path,
		Args: job.Command.Args(job.Source.Name), Stdin: job.Command.Stdin,
	}
	if w.plain {
		for i, arg := range request.Args {
			request.Args[i] = seen([]string{arg}, w.root)[0]
		}
	}
	var done lane.Done
	w.out = request.AppendFrame(w.out)
	err := w.exchange(w.out, done.Decode)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case done.Fault != "":
		return nil, fault.Environmentf("%s", done.Fault)
	}
	return w.result(o, &done)
}

// result takes over what the lane put into its outbox.
func (w *worker) result(o *Options, d *lane.Done) (*exec.Result, error) {
	t := taking{w: w, contents: make(map[outcome.Key]exec.Content, 2+len(d.Files))}
	out := outcome.Outcome{Ending: outcome.Ending{Kind: outcome.Kind(d.Kind), Code: d.Code}}
	out.Parts = make([]outcome.Part, 0, 2+len(d.Files))
	err := t.take(&out, outcome.Key{Place: outcome.Stdout}, d.Stdout)
	if err == nil {
		err = t.take(&out, outcome.Key{Place: outcome.Stderr}, d.Stderr)
	}
	for i := 0; i < len(d.Files) && err == nil; i++ {
		if o.Keep == "" {
			err = t.take(&out, outcome.Key{Place: outcome.File, Path: d.Files[i].Name}, d.Files[i])
		}
	}
	if err != nil {
		t.release()
		return nil, fault.Environmentf("take over what a case left: %w", err)
	}
	out.Sort()
	cost := outcome.Cost{CPU: d.CPU, Wall: d.Wall, PeakRSS: max(d.Peak, w.floor)}
	return exec.NewResult(out, cost, w.number, t.contents, t.release), nil
}

// taking is a result in the making.
type taking struct {
	w        *worker
	contents map[outcome.Key]exec.Content
	held     int64    // bytes in memory
	files    []string // to be removed on release
}

// heldMax is how many bytes of one result are held in memory; what goes beyond
// stays in the outbox until the result is released.
const heldMax = 1 << 20

func (t *taking) take(out *outcome.Outcome, key outcome.Key, l lane.Left) error {
	p := outcome.Part{Key: key, Form: outcome.Form(l.Form), Exec: l.Exec, Size: l.Size}
	var content exec.Content
	switch {
	case p.Form == outcome.Gone:
		p.Size, p.Exec = 0, false
	case p.Form == outcome.Symlink:
		content.Bytes = t.w.canonical([]byte(l.Target))
	case l.Stored != "":
		var err error
		if content, p.Digest, p.Size, err = t.load(l); err != nil {
			return err
		}
	}
	if p.Form != outcome.Gone && content.File == "" {
		p.Size, p.Digest = int64(len(content.Bytes)), outcome.Of(content.Bytes)
	}
	t.contents[key] = content
	out.Parts = append(out.Parts, p)
	return nil
}

// load digests a stored file, with the lane's path rewritten where the case
// could see it.
func (t *taking) load(l lane.Left) (c exec.Content, d outcome.Digest, size int64, err error) {
	path := filepath.Join(t.w.outbox, l.Stored)
	if t.held+l.Size <= heldMax {
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		t.held += int64(len(b))
		return exec.Content{Bytes: t.w.canonical(b)}, d, 0, err
	}
	t.files = append(t.files, path)
	if t.w.plain {
		if err := rewriteFile(path, t.w.root, Canonical); err != nil {
			return c, d, 0, err
		}
	}
	d, size, err = digestFile(path)
	return exec.Content{File: path}, d, size, err
}

func (t *taking) release() {
	for _, path := range t.files {
		_ = os.Remove(path) // it goes with the lane's folder at the latest
	}
}
