package cached

import (
	"context"
	"errors"
	"sync"

	"muster/fileio"
)

// A fetcher makes copies of files. All readers who wait for a copy share its fetch.
type fetcher struct {
	origin Origin
	copies *copies

	mu      sync.Mutex
	running map[piece]*fetch

	closing context.Context // ends all fetches
	close   context.CancelFunc
	wait    sync.WaitGroup
}

// A piece of a file has one copy. tag is that of the file; "" = any, because the file's name is its
// digest.
type piece struct {
	name  string
	index int64
	tag   string
}

// A fetch makes the copy of a piece. It ends early when its last reader has left.
type fetch struct {
	piece
	cancel context.CancelFunc
	done   chan struct{}

	// The fetcher's lock guards these.
	readers int
	ending  bool // it was cancelled: a reader who finds it waits for its end, and tries again
	ended   bool
	left    bool // the reader who started it has left without file

	// These belong to the fetch until it has ended.
	file *fileio.File // the origin's, for the reader who started it; nil = not open
	info fileio.Info  // of the origin's file; zero = it was not asked
	err  error
}

// errAgain is the error of a fetch that has ended because of another reader, or because the file has
// changed.
var errAgain = errors.New("the file was changed")

func newFetcher(origin Origin, c *copies) *fetcher {
	f := &fetcher{origin: origin, copies: c, running: map[piece]*fetch{}}
	f.closing, f.close = context.WithCancel(context.Background())
	return f
}

// share starts the fetch of a copy, or waits with others for a running one. file is the reader's open
// file of the origin, or nil. A fetch that this reader starts uses the file, and may open it.
//
// After success there is a copy, unless none can be kept. The error is errAgain, or that of the
// origin. info is what the origin reported; zero = it was not asked.
func (f *fetcher) share(ctx context.Context, p piece, file **fileio.File) (info fileio.Info, err error) {
	f.mu.Lock()
	one := f.running[p]
	starts := one == nil
	if starts {
		one = f.start(ctx, p, *file)
		*file = nil
	}
	ending := one.ending
	one.readers++
	f.mu.Unlock()
	select {
	case <-one.done:
	case <-ctx.Done():
		return info, errors.Join(ctx.Err(), f.leave(one, starts))
	}
	switch {
	case starts:
		*file = one.file
		if one.err != nil && one.ending {
			return info, errAgain
		}
		return one.info, one.err
	case ending, one.err != nil:
		return info, errAgain
	}
	return one.info, nil
}

// start starts a fetch. The caller holds the lock.
func (f *fetcher) start(ctx context.Context, p piece, file *fileio.File) *fetch {
	one := &fetch{piece: p, done: make(chan struct{}), file: file}
	// Others wait for it too, so it goes on if this reader leaves.
	ctx, one.cancel = context.WithCancel(context.WithoutCancel(ctx))
	f.running[p] = one
	f.wait.Go(func() {
		defer context.AfterFunc(f.closing, one.cancel)()
		if one.err = f.fill(ctx, one); one.err != nil {
			one.cancel() // else the file may go on with the answer to its last request
		}
		f.mu.Lock()
		delete(f.running, p)
		one.ended = true
		left := one.left
		f.mu.Unlock()
		if left {
			_ = closeFile(one.file)
		}
		close(one.done)
	})
	return one
}

// leave ends the wait of a reader.
func (f *fetcher) leave(one *fetch, starts bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.readers--
	switch {
	case one.ended && starts:
		return closeFile(one.file)
	case one.ended:
		return nil
	case one.readers == 0:
		one.ending = true
		one.cancel()
	}
	one.left = one.left || starts
	return nil
}

// drop ends the fetch of the beginning of a file whose name is its digest, and waits for its end.
func (f *fetcher) drop(name string) {
	f.mu.Lock()
	one := f.running[piece{name: name}]
	if one != nil {
		one.ending = true
		one.cancel()
	}
	f.mu.Unlock()
	if one != nil {
		<-one.done
	}
}

// fill makes the copy.
func (f *fetcher) fill(ctx context.Context, one *fetch) (err error) {
	old, err := f.copies.find(ctx, one.name, one.index)
	if err == nil && (one.tag == "" || one.tag == old.Tag) {
		if old.Boot != f.copies.boot {
			err = f.copies.write(ctx, one.name, one.index, *old.label, old.file, 0, old.text)
		}
		if _ = old.file.Close(); err == nil {
			return nil
		}
	} else if err == nil {
		_ = old.file.Close()
	}
	if one.file == nil {
		if one.file, err = f.origin.Get(ctx, one.name); err != nil {
			return err
		}
	}
	if one.tag == "" || one.tag == one.file.Tag {
		l := label{Tag: one.file.Tag, Size: one.file.Size, Changed: one.file.Changed}
		err = f.copies.write(ctx, one.name, one.index, l, one.file, one.index*pieceSize, nil)
	} else {
		err = errAgain
	}
	if err != nil {
		_ = closeFile(one.file) // the first error counts
		one.file = nil
		return err
	}
	one.info = one.file.Info
	return nil
}

// closeFile closes a file, if there is one.
func closeFile(f *fileio.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}
