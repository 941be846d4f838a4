package golden

import (
	"context"
	"database/sql"
	"time"
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
