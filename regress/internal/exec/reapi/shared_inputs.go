package reapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/pool"
	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// sharedInputs are the files that all cases of a corpus get, with their digests. They are read
// once, for any number of commands, and do not change after readSharedInputs.
type sharedInputs struct {
	corpus *corpus.Corpus
	blobs  []blob.Blob // by entry; zero for a link
}

// readSharedInputs reads the shared files on all CPUs.
func readSharedInputs(ctx context.Context, c *corpus.Corpus) (*sharedInputs, error) {
	s := &sharedInputs{corpus: c, blobs: make([]blob.Blob, len(c.Given()))}
	numbers := make([]int, len(s.blobs))
	for i := range numbers {
		numbers[i] = i
	}
	err := pool.ForEach(ctx, runtime.GOMAXPROCS(0), numbers, func(_ context.Context, i int) (err error) {
		if e := c.Given()[i]; !e.IsLink {
			s.blobs[i], err = stored(c, e)
		}
		return err
	})
	if ctx.Err() != nil {
		err = fault.Interruptedf("%w", ctx.Err())
	}
	return s, err
}

// addTo adds all of them to the root of actions.
func (s *sharedInputs) addTo(d *tree.Builder) error {
	if err := d.Folder(workFolder); err != nil {
		return err
	}
	for i, e := range s.corpus.Given() {
		at := workFolder + "/" + e.Name
		var err error
		if e.IsLink {
			err = d.Link(at, e.Path)
		} else {
			err = d.File(at, tree.File{Digest: s.blobs[i].Digest, Exec: e.Exec})
		}
		if err != nil {
			return fault.Inputf("%s cannot be sent to an engine: %w", name.Print(e.Name), err)
		}
	}
	return nil
}

// stored returns the content of an entry as a blob that is read from the corpus when it is
// sent.
func stored(c *corpus.Corpus, e corpus.Entry) (blob.Blob, error) {
	h := sha256.New()
	n, err := copyEntry(h, c, e)
	if err != nil {
		return blob.Blob{}, err
	}
	d := blob.Digest{Hash: outcome.Digest(h.Sum(nil)), Size: n}
	return blob.Blob{Digest: d, Open: func() (io.ReadCloser, error) {
		r, err := c.Open(e)
		if err != nil {
			return nil, err
		}
		return blob.Checked(r, d, fault.Inputf("%s changed while it was sent; run again when nothing writes there", name.Print(e.Name))), nil
	}}, nil
}

// heldBlob returns the content of an entry as a blob in memory.
func heldBlob(c *corpus.Corpus, e corpus.Entry) (blob.Blob, error) {
	w := bytes.NewBuffer(make([]byte, 0, e.Size+bytes.MinRead)) // one more byte, so that it need not grow to see the end
	if _, err := copyEntry(w, c, e); err != nil {
		return blob.Blob{}, err
	}
	return blob.Of(w.Bytes()), nil
}

func copyEntry(w io.Writer, c *corpus.Corpus, e corpus.Entry) (int64, error) {
	r, err := c.Open(e)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.Copy(w, r)
	if err != nil && regress.ClassOf(err) == regress.None {
		err = fault.Environmentf("%s cannot be read: %w", name.Print(e.Name), err)
	}
	return n, err
}

// errNotStarted is the error of a command that an engine's sandbox could not start because the
// worker lacks something.
var errNotStarted = errors.New("the engine's sandbox did not start it")

// lacks are the shortages of a worker. A missing or unexecutable program is not among them,
// because that is the tool's fault.
var lacks = [...]string{
	"Input/output error", "No space left on device", "Cannot allocate memory", "Resource temporarily unavailable",
	"Too many open files", "Too many open files in system", "Stale file handle",
}

// checkStarted returns an error if the result has a sandbox's words instead of the command's.
// Bubblewrap, which buildbox uses, reports its own failures as the command's. The words are
// recognised by their digest, so nothing is downloaded.
func checkStarted(program string, r *repb.ActionResult) error {
	if r.GetExitCode() != 1 || len(r.GetStdoutRaw()) > 0 || r.GetStdoutDigest().GetSizeBytes() > 0 {
		return nil
	}
	for _, lack := range lacks {
		text := []byte("bwrap: execvp " + program + ": " + lack + "\n")
		digest := blob.Of(text).Digest.Proto()
		if bytes.Equal(r.GetStderrRaw(), text) || r.GetStderrDigest().GetHash() == digest.Hash && r.GetStderrDigest().GetSizeBytes() == digest.SizeBytes {
			return fault.Environmentf("%w: execvp %s: %s", errNotStarted, program, lack)
		}
	}
	return nil
}
