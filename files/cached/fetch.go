package cached

import (
	"cmp"
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
	source *source // of the reader who started it
	done   chan struct{}

	// The fetcher's lock guards these until done.
	readers int
	ending  bool // its source was ended, so err is not the origin's

	// These belong to the fetch until done.
	kept bool        // the source may be used further, by the reader who started the fetch
	info fileio.Info // of the origin's file; zero = it was not asked
	err  error
}

// A source is a file of the origin. Its context ends all its requests, and also an answer that
// continues after a piece was read.
type source struct {
	*fileio.File // nil = not open yet
	ctx          context.Context
	end          context.CancelFunc
}

// newSource returns a source for a reader. It does not end with ctx, because others may wait for its
// bytes too.
func (f *fetcher) newSource(ctx context.Context) *source {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(f.closing, cancel)
	return &source{ctx: ctx, end: func() {
		stop()
		cancel()
	}}
}

// open opens a source for one reader.
func (f *fetcher) open(ctx context.Context, name string) (*source, error) {
	s := f.newSource(ctx)
	defer context.AfterFunc(ctx, s.end)()
	var err error
	if s.File, err = f.origin.Get(s.ctx, name); err != nil {
		s.end()
		return nil, cmp.Or(ctx.Err(), err)
	}
	return s, nil
}

// close ends a source, if there is one. Its file was only read.
func (s *source) close() {
	if s == nil {
		return
	}
	s.end()
	closeFile(s.File)
}

// errAgain is the error of a fetch that has ended because of another reader, or because the file has
// changed.
var errAgain = errors.New("the file was changed")

func newFetcher(origin Origin, c *copies) *fetcher {
	f := &fetcher{origin: origin, copies: c, running: map[piece]*fetch{}}
	f.closing, f.close = context.WithCancel(context.Background())
	return f
}

// share starts the fetch of a copy, or waits with others for a running one. file is the reader's source,
// or nil. A fetch that this reader starts uses it, and may open one.
//
// After success there is a copy, unless none can be kept. The error is errAgain, or that of the
// origin. info is what the origin reported; zero = it was not asked.
func (f *fetcher) share(ctx context.Context, p piece, file **source) (info fileio.Info, err error) {
	f.mu.Lock()
	one := f.running[p]
	starts := one == nil
	if starts {
		one = f.start(ctx, p, *file)
		*file = nil
	}
	one.readers++
	f.mu.Unlock()
	select {
	case <-one.done:
	case <-ctx.Done():
		f.leave(one, starts)
		return info, ctx.Err()
	}
	if starts && one.kept {
		*file = one.source
	}
	if one.err != nil && (one.ending || !starts) {
		return info, errAgain
	}
	return one.info, one.err
}

// start starts a fetch. The caller holds the lock.
func (f *fetcher) start(ctx context.Context, p piece, s *source) *fetch {
	if s == nil {
		s = f.newSource(ctx)
	}
	one := &fetch{piece: p, source: s, done: make(chan struct{})}
	f.running[p] = one
	f.wait.Go(func() {
		one.err = f.fill(one)
		f.mu.Lock()
		delete(f.running, p)
		one.kept = one.err == nil && s.File != nil && s.ctx.Err() == nil
		f.mu.Unlock()
		if !one.kept {
			s.close()
		}
		close(one.done)
	})
	return one
}

// leave ends the wait of a reader.
func (f *fetcher) leave(one *fetch, starts bool) {
	f.mu.Lock()
	if one.readers--; one.readers == 0 {
		one.ending = true
		one.source.end()
	}
	f.mu.Unlock()
	if starts {
		f.wait.Go(func() {
			if <-one.done; one.kept {
				one.source.close()
			}
		})
	}
}

// drop ends the fetch of the beginning of a file whose name is its digest, and waits for its end.
func (f *fetcher) drop(name string) {
	f.mu.Lock()
	one := f.running[piece{name: name}]
	if one != nil {
		one.ending = true
		one.source.end()
	}
	f.mu.Unlock()
	if one != nil {
		<-one.done
	}
}

// fill makes the copy.
func (f *fetcher) fill(one *fetch) error {
	s := one.source
	old, err := f.copies.find(s.ctx, one.name, one.index)
	if err == nil && (one.tag == "" || one.tag == old.Tag) {
		if old.Boot == f.copies.boot {
			closeFile(old.file)
			return nil
		}
		if f.copies.verify(s.ctx, one.name, one.index, old) == nil {
			return nil
		}
	} else if err == nil {
		closeFile(old.file)
	}
	if s.File == nil {
		if s.File, err = f.origin.Get(s.ctx, one.name); err != nil {
			return err
		}
	}
	if one.tag != "" && one.tag != s.Tag {
		return errAgain
	}
	one.info = s.Info
	l := label{Tag: s.Tag, Size: s.Size, Changed: s.Changed}
	return f.copies.write(s.ctx, one.name, one.index, l, s.File, one.index*pieceSize, nil)
}
