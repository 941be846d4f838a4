package golden

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Content opens the content of a part of the record that is being put. A variant is passed as a
// part. It is called at most once for each, in the goroutine of Put, and not for content that the
// store already has.
type Content func(outcome.Part) (io.ReadCloser, error)

var errClosed = errors.New("golden: the writer is closed")

// Writer builds a new store in a file beside its final name. The file of that name is untouched
// until Finish. Hashing and compression run in the goroutines of Put. One goroutine writes, from a
// bounded queue, and Put waits while others hold much memory. After an error of the disk every method
// returns that error. What was committed before remains for Resume.
//
// All methods are safe for concurrent use, but no method may run beside or after Finish and Abort.
type Writer struct {
	path, part string // final path, and path during construction
	meta       Meta
	lock       *lock
	db         *sql.DB
	packer     *packer
	memory     *semaphore.Weighted // bounds the contents in all calls of Put, in bytes
	committer  *committer
	closed     bool
	sealed     bool            // the part is complete
	kept       map[string]bool // names of the cases in the part, once the writer is closed without being sealed

	mu     sync.Mutex
	known  contentSet // blobs that are stored or queued
	lastID int64      // of a blob
}

// Meta returns the meta that Create was given. After a Resume that may be another run's: compare
// Meta.Run, and call Abort(false) to discard it.
func (w *Writer) Meta() Meta { return w.meta }

// Put stores r and the contents of its parts and their variants. It replaces an earlier record of
// that name. It returns once everything is queued; ctx ends the wait for room.
//
// An error leaves an earlier record unchanged. An error of content, or content that does not match
// its part, concerns this record only.
func (w *Writer) Put(ctx context.Context, r Record, content Content) error {
	r, err := canonical(r)
	if err != nil {
		return err
	}
	contents := int64(0)
	for p := range WithContent(&r.Outcome) {
		contents += min(p.Size, jobBytes+pieceMax) // no sum overflows
	}
	memory := memoryOf(contents)
	if err := w.memory.Acquire(ctx, memory); err != nil {
		return err
	}
	defer w.memory.Release(memory)
	j := &job{}
	for p := range WithContent(&r.Outcome) {
		if j, err = w.putContent(ctx, j, p, content); err != nil {
			return fmt.Errorf("%s of case %s: %w", name.Print(p.String()), name.Print(r.Name), err)
		}
	}
	encoded := rowOf(r)
	j.outcome = &encoded
	return w.send(ctx, j)
}

// putContent adds the content of p to j, unless it is known. It sends a job that has grown too big,
// and returns the job to continue with.
func (w *Writer) putContent(ctx context.Context, j *job, p outcome.Part, content Content) (*job, error) {
	known, err := w.has(j, p)
	if err != nil || known {
		return j, err
	}
	r, err := content(p)
	if err != nil {
		return j, err
	}
	defer r.Close()
	id, sent := w.newID(), false
	err = w.packer.pack(r, p, id<<pieceShift, func(pc piece) error {
		j.pieces = append(j.pieces, pc)
		if j.size() < jobBytes && len(j.pieces) < jobPieces {
			return nil
		}
		full := j
		j, sent = &job{}, true
		return w.send(ctx, full)
	})
	if err != nil {
		if sent {
			// Without the caller's context, which may be the reason of the failure. If this fails,
			// every later call does, and says why.
			_ = w.send(context.WithoutCancel(ctx), &job{drop: []int64{id}})
		}
		return j, err
	}
	j.blobs = append(j.blobs, blob{p.Digest, id, p.Size})
	return j, nil
}

func (j *job) size() (n int) {
	for _, p := range j.pieces {
		n += len(p.data)
	}
	return n
}

// has reports whether the content of p needs no storing.
func (w *Writer) has(j *job, p outcome.Part) (bool, error) {
	if p.Size == 0 {
		return true, checkEmpty(p)
	}
	w.mu.Lock()
	known := w.known.has(p.Digest, p.Size)
	w.mu.Unlock()
	return known || slices.ContainsFunc(j.blobs, func(b blob) bool { return b.digest == p.Digest && b.size == p.Size }), nil
}

// checkEmpty checks the digest of a part of size 0.
func checkEmpty(p outcome.Part) error {
	if p.Digest != outcome.Of(nil) {
		return fmt.Errorf("%w: it is empty, and its digest differs", ErrContent)
	}
	return nil
}

func (w *Writer) newID() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastID++
	return w.lastID
}

// send queues j. Only then may others rely on its blobs, because their jobs are behind it in the
// queue. If two put the same content at once, both send it, and the committer keeps the first.
func (w *Writer) send(ctx context.Context, j *job) error {
	select {
	case <-w.committer.failed:
		return w.committer.err
	case <-w.committer.ended:
		return errClosed
	default:
	}
	select {
	case w.committer.jobs <- j:
	case <-w.committer.failed:
		return w.committer.err
	case <-w.committer.ended:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range j.blobs {
		w.known.add(b.digest, b.size)
	}
	return nil
}

// call runs do in the committer after everything that was sent before.
func (w *Writer) call(do func(context.Context) error) error {
	reply := make(chan error, 1)
	if err := w.send(context.Background(), &job{call: do, reply: reply}); err != nil {
		return err
	}
	select {
	case err := <-reply:
		return err
	case <-w.committer.ended:
		return errClosed
	}
}

// Get returns the last record that was Put under a name, in this process or before a Resume.
func (w *Writer) Get(caseName string) (r Record, found bool, err error) {
	err = w.call(func(ctx context.Context) error {
		r, found, err = get(ctx, w.committer.conn, caseName)
		return err
	})
	return r, found, err
}

// sharedSum computes the digest over the table shared, in the order of names.
type sharedSum struct {
	hash hash.Hash
	size []byte
}

func newSharedSum() *sharedSum {
	s := &sharedSum{hash: sha256.New()}
	s.hash.Write([]byte("shared files 1\n"))
	return s
}

func (s *sharedSum) add(name, digest []byte) {
	s.size = binary.AppendUvarint(s.size[:0], uint64(len(name)))
	s.hash.Write(s.size)
	s.hash.Write(name)
	s.hash.Write(digest)
}

// PutShared stores the digests of the files that all cases share, by name. It replaces those from
// before a Resume. Without PutShared they are unknown.
func (w *Writer) PutShared(files map[string]outcome.Digest) error {
	return w.call(func(ctx context.Context) error {
		err := w.committer.begin(ctx)
		if err == nil {
			err = putShared(ctx, w.committer.conn, files)
		}
		w.committer.fail(err) // a part of it must not be committed
		return err
	})
}

// Withdraw removes all records. After that no Resume finds them.
func (w *Writer) Withdraw() error {
	return w.call(func(ctx context.Context) error {
		err := w.committer.begin(ctx)
		if err == nil {
			_, err = w.committer.conn.ExecContext(ctx, "DELETE FROM outcome")
		}
		if err == nil {
			err = w.committer.commit(ctx)
		}
		w.committer.fail(err)
		return err
	})
}

// SetTool replaces the files of the tool in the meta, once all cases have shown what it uses, and the digest of
// its executable.
func (w *Writer) SetTool(files []ToolFile, executable outcome.Digest) error {
	return w.call(func(ctx context.Context) error {
		m := w.meta
		m.Tool, m.ExecutableDigest = files, executable
		meta, err := encodeMeta(m, nil)
		if err == nil {
			err = w.committer.begin(ctx)
		}
		if err == nil {
			err = writeMeta(ctx, w.committer.conn, meta)
		}
		w.committer.fail(err)
		return err
	})
}

func putShared(ctx context.Context, q querier, files map[string]outcome.Digest) error {
	if _, err := q.ExecContext(ctx, "DELETE FROM shared"); err != nil {
		return err
	}
	sum := newSharedSum()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		digest := files[name]
		if _, err := q.ExecContext(ctx, "INSERT INTO shared(name, digest) VALUES(?, ?)", []byte(name), digest[:]); err != nil {
			return err
		}
		sum.add([]byte(name), digest[:])
	}
	_, err := q.ExecContext(ctx, "UPDATE golden SET shared=? WHERE id=1", sum.hash.Sum(nil))
	return err
}

// Shared returns the digests of the files that all cases shared, by name, or nil if they are
// unknown. Each call reads and checks them anew, in about 2 µs a file. Open does not.
func (s *Store) Shared() (map[string]outcome.Digest, error) {
	files, err := readShared(context.Background(), s.db, s.shared)
	if err != nil {
		return nil, s.classifyRead(err)
	}
	return files, nil
}

// readShared reads the table, whose digest must be want. An empty want means that the files
// are unknown.
func readShared(ctx context.Context, q querier, want []byte) (map[string]outcome.Digest, error) {
	if len(want) == 0 {
		return nil, nil
	}
	files, sum := map[string]outcome.Digest{}, newSharedSum()
	err := eachRow(ctx, q, "SELECT name, digest FROM shared ORDER BY name", nil, func(rows *sql.Rows) error {
		var name, digest sql.RawBytes
		if err := rows.Scan(&name, &digest); err != nil {
			return err
		}
		if len(digest) != len(outcome.Digest{}) {
			return errors.New("a shared file without a digest")
		}
		files[string(name)] = outcome.Digest(digest)
		sum.add(name, digest)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sum.hash.Sum(nil), want) {
		return nil, errors.New("its list of shared files does not match its digest")
	}
	return files, nil
}
