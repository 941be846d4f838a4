package golden

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// The committer ends a transaction at these limits. They bound what a kill can lose, and the size
// of a transaction.
const (
	commitEvery = 250 * time.Millisecond
	commitBytes = 64 << 20
)

// queueMax bounds the jobs that wait for the committer. A job holds at most jobBytes and one more
// piece, so the queue is bounded in bytes too. jobPieces bounds small pieces, because each new one
// is compared with those before it.
const (
	queueMax  = 32
	jobBytes  = 256 << 10
	jobPieces = 256
)

// A job is a set of rows to write. Pieces go before blobs, and blobs before the outcome. So a
// commit between two jobs never leaves a dangling reference.
type job struct {
	pieces  []piece
	blobs   []blob
	outcome *row
	drop    []int64 // ids of blobs whose content failed

	call  func(context.Context) error // or: a function to call between two jobs
	reply chan<- error                // of call; it has room for the answer
}

// A committer owns the one connection that writes. Every write reaches it through jobs, in order.
// After the first error it only answers with that error.
type committer struct {
	path   string
	conn   *sql.Conn
	sink   *sink
	jobs   chan *job
	failed chan struct{} // closed when err is set
	quit   chan struct{} // closed by stop
	ended  chan struct{} // closed when run has returned
	err    error         // classified

	open  bool // a transaction is open
	bytes int  // written in it
}

func newCommitter(ctx context.Context, path string, conn *sql.Conn) (*committer, error) {
	s, err := newSink(ctx, conn)
	if err != nil {
		return nil, classify(path, err)
	}
	return &committer{
		path: path, conn: conn, sink: s,
		jobs: make(chan *job, queueMax), failed: make(chan struct{}),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}, nil
}

// run does jobs until stop.
func (c *committer) run() {
	defer close(c.ended)
	ctx := context.Background() // statements are never cancelled: that would lose the transaction
	tick := time.NewTicker(commitEvery)
	defer tick.Stop()
	for {
		select {
		case j := <-c.jobs:
			c.do(ctx, j)
		case <-tick.C:
			_ = c.commit(ctx) // the next job gets the error
		case <-c.quit:
			return
		}
	}
}

// stop ends run and discards the waiting jobs.
func (c *committer) stop() {
	close(c.quit)
	<-c.ended
	c.sink.close()
}

// listCommitted rolls back, and returns the names of the cases that remain; none if they cannot be read.
// It is called after stop.
func (c *committer) listCommitted() map[string]bool {
	ctx := context.Background()
	_, _ = c.conn.ExecContext(ctx, "ROLLBACK") // an error means that nothing was open
	names := map[string]bool{}
	err := eachRow(ctx, c.conn, "SELECT name FROM outcome", nil, func(rows *sql.Rows) error {
		var name sql.RawBytes
		err := rows.Scan(&name)
		names[string(name)] = true
		return err
	})
	if err != nil {
		return nil
	}
	return names
}

func (c *committer) do(ctx context.Context, j *job) {
	if c.err == nil && j.call == nil {
		c.fail(c.write(ctx, j))
	}
	if j.call == nil {
		return
	}
	err := c.err
	if err == nil {
		// Only the caller gets its error: an unreadable row is no reason to stop writing.
		err = classify(c.path, j.call(ctx))
	}
	j.reply <- err
}

func (c *committer) fail(err error) {
	if err != nil && c.err == nil {
		c.err = classify(c.path, err)
		close(c.failed)
	}
}

func (c *committer) write(ctx context.Context, j *job) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	for _, p := range j.pieces {
		c.bytes += len(p.data)
		if err := c.sink.putPiece(ctx, p); err != nil {
			return err
		}
	}
	for _, b := range j.blobs {
		if err := c.sink.putBlob(ctx, b); err != nil {
			return err
		}
	}
	for _, id := range j.drop {
		if err := dropPieces(ctx, c.conn, id); err != nil {
			return err
		}
	}
	if j.outcome != nil {
		c.bytes += len(j.outcome.record)
		if err := c.sink.putRow(ctx, *j.outcome); err != nil {
			return err
		}
	}
	if c.bytes >= commitBytes {
		return c.commit(ctx)
	}
	return nil
}

func (c *committer) begin(ctx context.Context) error {
	if c.open {
		return nil
	}
	_, err := c.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	c.open = err == nil
	return err
}

func (c *committer) commit(ctx context.Context) error {
	if !c.open || c.err != nil {
		return nil
	}
	_, err := c.conn.ExecContext(ctx, "COMMIT")
	c.open, c.bytes = false, 0
	c.fail(err)
	return err
}

// blob is one row of the table blob.
type blob struct {
	digest outcome.Digest
	id     int64
	size   int64
}

// contentSet is a set of contents. It keeps half of each digest, because a store may have millions
// of contents: 36 bytes for each instead of 105. Two contents with the same half take 2^64
// attempts to make. A store then lacks one of them, and reading it is an error.
type contentSet map[[16]byte]struct{}

// key includes the size, so that a part with a wrong size is not in the set.
func (contentSet) key(d outcome.Digest, size int64) (k [16]byte) {
	copy(k[:], d[:])
	binary.LittleEndian.PutUint64(k[:], binary.LittleEndian.Uint64(k[:])^uint64(size))
	return k
}

func (s contentSet) add(d outcome.Digest, size int64) { s[s.key(d, size)] = struct{}{} }

func (s contentSet) has(d outcome.Digest, size int64) bool {
	_, ok := s[s.key(d, size)]
	return ok
}

// blobs returns the whole table of contents.
func blobs(ctx context.Context, q querier) (all []blob, err error) {
	err = eachBlob(ctx, q, func(b blob) { all = append(all, b) })
	return all, err
}

// eachBlob calls do for each row of the table of contents.
func eachBlob(ctx context.Context, q querier, do func(blob)) error {
	return eachRow(ctx, q, "SELECT digest, id, size FROM blob", nil, func(rows *sql.Rows) error {
		var b blob
		var digest sql.RawBytes
		if err := rows.Scan(&digest, &b.id, &b.size); err != nil {
			return err
		}
		if len(digest) != len(b.digest) {
			return errors.New("a content without a digest")
		}
		b.digest = outcome.Digest(digest)
		do(b)
		return nil
	})
}

// dropPieces removes the pieces of the blob with the given id.
func dropPieces(ctx context.Context, q querier, id int64) error {
	_, err := q.ExecContext(ctx, "DELETE FROM piece WHERE id>=? AND id<?", id<<pieceShift, (id+1)<<pieceShift)
	return err
}

// lastBlob returns the highest id that any piece has used.
func lastBlob(ctx context.Context, q querier) (int64, error) {
	var id sql.NullInt64
	err := q.QueryRowContext(ctx, "SELECT max(id) FROM piece").Scan(&id)
	return id.Int64 >> pieceShift, err
}

// sink writes rows through one connection. Only one goroutine may use it.
type sink struct {
	conn                 *sql.Conn
	piece, blob, outcome *sql.Stmt
}

func newSink(ctx context.Context, conn *sql.Conn) (*sink, error) {
	s := &sink{conn: conn}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.piece, "INSERT INTO piece(id, codec, data) VALUES(?, ?, ?)"},
		{&s.blob, "INSERT OR IGNORE INTO blob(digest, id, size) VALUES(?, ?, ?)"},
		{&s.outcome, "INSERT OR REPLACE INTO outcome(name, digest, record) VALUES(?, ?, ?)"},
	} {
		var err error
		if *p.stmt, err = conn.PrepareContext(ctx, p.text); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// close closes the statements. Open ones would keep SQLite's connection and its locks alive after
// the close.
func (s *sink) close() {
	for _, stmt := range []*sql.Stmt{s.piece, s.blob, s.outcome} {
		if stmt != nil {
			stmt.Close()
		}
	}
}

func (s *sink) putPiece(ctx context.Context, p piece) error {
	_, err := s.piece.ExecContext(ctx, p.id, int64(p.codec), p.data)
	return err
}

// putBlob makes the pieces under b's id the content of b's digest. If another Put stored the same
// content before, it removes them.
func (s *sink) putBlob(ctx context.Context, b blob) error {
	result, err := s.blob.ExecContext(ctx, b.digest[:], b.id, b.size)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return dropPieces(ctx, s.conn, b.id)
}

func (s *sink) putRow(ctx context.Context, r row) error {
	_, err := s.outcome.ExecContext(ctx, r.name, r.digest, r.record)
	return err
}

// seal removes the contents and the accepts that no outcome refers to. It then writes the
// digest over all rows; only a store with that digest opens. Errors are not classified.
func seal(ctx context.Context, q querier) (outcome.Digest, error) {
	format, err := formatOf(ctx, q, "")
	if err != nil {
		return outcome.Digest{}, err
	}
	d, err := readDescription(ctx, q, format)
	if err != nil {
		return outcome.Digest{}, err
	}
	m, err := decodeMeta(d.meta)
	if err != nil {
		return outcome.Digest{}, err
	}
	wanted, used := contentSet{}, make([]bool, len(m.Accepts)+1) // used: by Record.Origin
	sum, err := scan(ctx, q, d, func(r row) error {
		rec, err := r.decode()
		if err != nil {
			return err
		}
		for p := range WithContent(&rec.Outcome) {
			if p.Size > 0 {
				wanted.add(p.Digest, p.Size)
			}
		}
		if err = checkOrigin(rec.Name, rec.Origin, len(m.Accepts)); err == nil {
			used[rec.Origin] = true
		}
		return err
	})
	if err != nil {
		return sum, err
	}
	if err := sweep(ctx, q, wanted); err != nil {
		return sum, err
	}
	dropped, err := dropAccepts(ctx, q, &d, m, used)
	if err == nil && dropped {
		sum, err = scan(ctx, q, d, func(row) error { return nil })
	}
	if err != nil || bytes.Equal(d.digest, sum[:]) {
		return sum, err
	}
	_, err = q.ExecContext(ctx, "UPDATE golden SET digest=? WHERE id=1", sum[:])
	return sum, err
}

// checkOrigin refuses a record whose accept the meta does not list.
func checkOrigin(caseName string, origin, accepts int) error {
	if origin < 0 || origin > accepts {
		return fmt.Errorf("case %s belongs to accept %d of %d", name.Print(caseName), origin, accepts)
	}
	return nil
}

// dropAccepts removes the unused accepts, and updates the indexes in the records.
func dropAccepts(ctx context.Context, q querier, d *description, m Meta, used []bool) (dropped bool, err error) {
	moved := make([]int, len(used)) // the new origin by the old one
	var kept []Accept
	for i, a := range m.Accepts {
		if used[i+1] {
			kept = append(kept, a)
			moved[i+1] = len(kept)
		}
	}
	if len(kept) == len(m.Accepts) {
		return false, nil
	}
	m.Accepts = kept
	if d.meta, err = encodeMeta(m, d.meta); err != nil {
		return false, err
	}
	if err := writeMeta(ctx, q, d.meta); err != nil {
		return false, err
	}
	return true, rewrite(ctx, q, func(r *Record) bool {
		was := r.Origin
		r.Origin = moved[was]
		return r.Origin != was
	})
}

// sweep removes all blobs except the wanted ones. It fails if a wanted blob is missing.
func sweep(ctx context.Context, q querier, wanted contentSet) error {
	var unwanted []blob
	there := 0
	err := eachBlob(ctx, q, func(b blob) {
		if wanted.has(b.digest, b.size) {
			there++
		} else {
			unwanted = append(unwanted, b)
		}
	})
	if err != nil {
		return err
	}
	for _, b := range unwanted {
		if _, err := q.ExecContext(ctx, "DELETE FROM blob WHERE digest=?", b.digest[:]); err != nil {
			return err
		}
		if err := dropPieces(ctx, q, b.id); err != nil {
			return err
		}
	}
	if there != len(wanted) {
		return fmt.Errorf("the contents of %d parts are missing", len(wanted)-there)
	}
	return nil
}
