package golden

import (
	"context"
	"database/sql"
	"time"
)

// When the committer ends a transaction by itself: what a kill can cost, and
// how much a transaction can grow.
const (
	commitEvery = 250 * time.Millisecond
	commitBytes = 64 << 20
)

// queueMax bounds the jobs that wait for the committer. A job holds at most
// jobBytes and one more piece, so the queue is bounded in bytes too. Of small pieces
// it holds jobPieces: each new one is looked for among those before it.
const (
	queueMax  = 32
	jobBytes  = 256 << 10
	jobPieces = 256
)

// job is some writing. Pieces go before blobs and those before the outcome, so
// that a commit between two jobs never leaves a reference to what is not there.
type job struct {
	pieces  []piece
	blobs   []blob
	outcome *row
	drop    []int64 // ids of blobs that were given up

	call  func(context.Context) error // or: something to do between two jobs
	reply chan<- error                // of call; it has room for the answer
}

// committer owns the one connection that writes. Everything reaches it through
// jobs, in order; after the first error it does nothing but answer with it.
type committer struct {
	path   string
	conn   *sql.Conn
	sink   *sink
	jobs   chan *job
	failed chan struct{} // closed when err is set
	quit   chan struct{} // closed by stop
	ended  chan struct{} // closed when run has returned
	err    error         // classified

	open  bool // a transaction is
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
	ctx := context.Background() // a statement is never cut off: the transaction would be lost
	tick := time.NewTicker(commitEvery)
	defer tick.Stop()
	for {
		select {
		case j := <-c.jobs:
			c.do(ctx, j)
		case <-tick.C:
			_ = c.commit(ctx) // the next job is told
		case <-c.quit:
			return
		}
	}
}

// stop ends run, and with it whatever waits in the queue.
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
		// Its error is the caller's alone: one row that can't be read is no
		// reason to stop writing.
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
