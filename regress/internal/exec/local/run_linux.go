package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/lane"
)

// run runs the first cases of a batch with the present helper, and returns their number. An
// error concerns the case after those. If it is errLaneDied, or if ctx has ended, the helper
// is gone, with everything that the case had started.
func (w *worker) run(ctx context.Context, b exec.Batch) (ran int, err error) {
	w.link.bindTo(ctx)
	w.message = w.encodeJobs(b.Jobs)
	if err := w.link.send(w.message); err != nil {
		return 0, errors.Join(err, ctx.Err())
	}
	b.Started(0)
	for {
		var d lane.Answer
		err = w.await(w.crew.o.casePatience(), d.Decode)
		if ended := ctx.Err(); ended != nil || err != nil {
			return ran, errors.Join(err, ended)
		}
		w.recordUsage(d.HelperCPU, d.Floor)
		w.recordInotify(d.NoInotify)
		if d.Stuck {
			left := w.stuckError() // the processes are still below the helper
			w.end()
			w.useFreshRoot()
			return ran, fmt.Errorf("%s: %w", name.Print(b.Jobs[ran].Source.Name), left)
		}
		r, err := w.answer(&d)
		b.Ended(ran, r, err)
		ran++
		if d.HelperEnds {
			w.endOrWarn()
		}
		if d.BatchEnds || ran == len(b.Jobs) {
			return ran, nil
		}
		b.Started(ran)
	}
}

// encodeJobs returns the message that asks for the jobs.
func (w *worker) encodeJobs(jobs []exec.Job) []byte {
	w.batch.Jobs = w.batch.Jobs[:0]
	for i := range jobs {
		j := &jobs[i]
		args := j.Command.Args(j.Source.Name)
		if w.plain {
			args = replaceCanonical(args, w.root)
		}
		w.batch.Jobs = append(w.batch.Jobs, lane.Job{Source: sourceItem(j), Path: j.Command.Path, Args: args, Stdin: j.Command.Stdin, Observe: j.Observe, Fork: j.Fork, NewServer: j.NewServer})
	}
	return w.batch.AppendFrame(w.message)
}

// sourceItem returns the case's own file.
func sourceItem(j *exec.Job) lane.Item {
	it := item(j.Source)
	it.Name = j.Command.PlacedName(it.Name)
	if j.Content != nil {
		it.Literal, it.Content, it.Size = true, string(j.Content), int64(len(j.Content))
	}
	return it
}

func (w *worker) answer(d *lane.Answer) (*exec.Result, error) {
	if d.NoServer {
		return nil, &exec.NoServer{Why: d.Fault}
	}
	if d.Fault != "" {
		return nil, w.crew.helperFault(d.Fault, d.CorpusChanged, d.DiskFull)
	}
	return w.buildResult(d)
}

// buildResult returns the result of an answer, with its files in the outbox.
func (w *worker) buildResult(d *lane.Answer) (*exec.Result, error) {
	if w.crew.o.Keep != "" {
		d.Files = nil // they stay where they are
	}
	w.rewriteNames(d.Files)
	t := resultBuilder{w: w, outbox: w.outbox}
	t.parts = make([]outcome.Part, 0, 2+len(d.Files))
	t.contents = make([]exec.Content, 0, 2+len(d.Files))
	err := t.addPart(outcome.Key{Place: outcome.Stdout}, &d.Stdout)
	if err == nil {
		err = t.addPart(outcome.Key{Place: outcome.Stderr}, &d.Stderr)
	}
	for i := 0; i < len(d.Files) && err == nil; i++ {
		err = t.addPart(outcome.Key{Place: outcome.File, Path: d.Files[i].Name}, &d.Files[i])
	}
	if err != nil {
		t.release()
		return nil, fault.Environmentf("take over what a case left: %w", w.crew.withRoomMend(err))
	}
	out := outcome.Outcome{Ending: regress.Ending{Kind: regress.EndingKind(d.Kind), Code: d.Code}, Parts: t.parts}
	cost := outcome.Cost{CPU: d.CPU, Wall: d.Wall, PeakRSS: max(d.Peak, w.floor)}
	r := exec.NewResult(out, cost, w.number, t.contents, t.release)
	if r.Observed = d.Observed; r.Observed != nil {
		completeObservation(r.Observed)
	}
	return r, nil
}

// rewriteNames replaces the lane's path in file names. A case may have made a tree that
// mirrors absolute paths.
func (w *worker) rewriteNames(files []lane.Output) {
	if !w.plain {
		return
	}
	for i := range files {
		files[i].Name = strings.ReplaceAll(files[i].Name, w.root[1:]+"/", Canonical[1:]+"/")
	}
	slices.SortFunc(files, func(a, b lane.Output) int { return strings.Compare(a.Name, b.Name) })
}

// resultBuilder builds a result. Its parts come in their final order.
type resultBuilder struct {
	w        *worker
	outbox   *outbox
	parts    []outcome.Part
	contents []exec.Content
	files    []string // removed on release
}

func (t *resultBuilder) addPart(key outcome.Key, l *lane.Output) error {
	p := outcome.Part{Key: key, Form: outcome.Form(l.Form), Exec: l.Exec, Size: l.Size}
	c := exec.Content{Key: key}
	var err error
	switch {
	case l.Stored != "":
		err = t.addStored(l, &p, &c)
	case p.Form == outcome.Symlink:
		c.Bytes = t.w.toCanonical([]byte(l.Target))
	case p.Form == outcome.Regular:
		// The next message overwrites this one.
		c.Bytes = t.w.toCanonical(slices.Clone(l.Content))
	}
	if c.File == "" && p.Form != outcome.Gone {
		p.Size, p.Digest = int64(len(c.Bytes)), outcome.Of(c.Bytes)
	}
	t.parts, t.contents = append(t.parts, p), append(t.contents, c)
	return err
}

// addStored adds a file of the outbox, and replaces the lane's path in it if the case could
// see that. The file stays there until the result is released: mostly only its digest is used.
func (t *resultBuilder) addStored(l *lane.Output, p *outcome.Part, c *exec.Content) error {
	path := t.outbox.dir + "/" + l.Stored
	if t.files = append(t.files, path); len(t.files) == 1 {
		t.outbox.users.Add(1)
	}
	if t.w.plain {
		if err := rewriteFile(path, []byte(t.w.root), []byte(Canonical)); err != nil {
			return err
		}
	}
	var err error
	c.File = path
	p.Digest, p.Size, err = t.w.digests.digestFile(path, t.w.crew.base.inMemory())
	return err
}

func (t *resultBuilder) release() {
	for _, path := range t.files {
		_ = unix.Unlink(path) // the outbox is removed anyway
	}
	if len(t.files) > 0 {
		t.outbox.release()
	}
}

// digester computes digests of files, and reuses its memory. The outputs of a case are read
// once, and seldom by anybody else. One goroutine uses it.
type digester struct {
	hash hash.Hash
	buf  []byte
}

// digestBuffer fits into the CPU's first cache with the data that is read into it: a larger
// one takes 15 % longer over 125 KB.
const digestBuffer = 16 << 10

func (d *digester) digestFile(path string, inMemory bool) (sum outcome.Digest, size int64, err error) {
	if d.hash == nil {
		d.hash, d.buf = sha256.New(), make([]byte, digestBuffer)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return sum, 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	read := unix.Read
	if inMemory {
		read = lane.ReadNow
	}
	d.hash.Reset()
	for {
		n, err := read(fd, d.buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return sum, 0, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		_, _ = d.hash.Write(d.buf[:n]) // it never fails
		size += int64(n)
		if n < len(d.buf) { // the end of a regular file
			d.hash.Sum(sum[:0])
			return sum, size, nil
		}
	}
}
