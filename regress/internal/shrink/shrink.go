package shrink

import (
	"context"
	"crypto/sha256"
)

// A Test reports whether a candidate still has the wanted property. Several goroutines call it at
// once. It should always give the same answer. It must not change the candidate. Its error ends the
// work.
type Test func(ctx context.Context, candidate []byte) (bool, error)

// Options bounds the work.
type Options struct {
	Lanes    int            // candidates tested at once; at least 1
	TestsMax int            // 0 = no limit
	Progress func(Progress) // called for each test that counts, in the goroutine of Reduce; may be nil
}

// Progress is the progress of a reduction.
type Progress struct {
	Tests int    // that count: the same for any number of lanes
	Size  int    // of the smallest source so far, in bytes
	Round int    // from 1: all passes over the source
	Pass  string // the kind of piece that is being removed: forms, lines, groups, tokens, spaces
	// How much of the source this pass has covered, from 0 to 1, at the current size of its pieces.
	Part float64
}

// Result is the result of Reduce.
type Result struct {
	Source []byte
	Tests  int  // that counted
	Ran    int  // all tests, with the guesses that did not count
	Done   bool // nothing more can go; false: TestsMax was reached, or the work was ended
}

// Reduce returns the smallest source that it finds for which test returns true. test must return
// true for source; Reduce does not check that. It ends with ctx or with the first error of test,
// and then returns the smallest source so far with the error. It does not change source.
func Reduce(ctx context.Context, source []byte, o Options, test Test) (Result, error) {
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	w := &reduction{o: o, best: source, answers: map[key]bool{}, asked: map[key]bool{}, under: map[key]bool{}}
	stop := w.start(ctx, test)
	defer stop()
	err := w.rounds(ctx)
	return Result{Source: w.best, Tests: w.tests, Ran: w.ran, Done: err == nil && !w.spent()}, err
}

// reduction is a reduction in progress. One goroutine owns it, and tests run in others.
type reduction struct {
	o       Options
	best    []byte
	round   int
	tests   int
	ran     int
	answers map[key]bool // of all tested candidates
	asked   map[key]bool // those whose turn came

	run     func(*candidate) // starts a test; set by start
	ended   chan testResult
	running int
	under   map[key]bool // the candidates of the running tests
}

// key identifies a candidate.
type key [sha256.Size]byte

func (w *reduction) spent() bool { return w.o.TestsMax > 0 && w.tests >= w.o.TestsMax }

// rounds makes passes until none of them removes anything. The expensive ones run only when the
// others find nothing more.
func (w *reduction) rounds(ctx context.Context) error {
	for !w.spent() {
		w.round++
		before := len(w.best)
		if err := w.passes(ctx, cheapPasses()); err != nil {
			return err
		}
		if len(w.best) < before {
			continue
		}
		if err := w.passes(ctx, dearPasses()); err != nil {
			return err
		}
		if len(w.best) == before {
			return w.passes(ctx, lastPasses())
		}
	}
	return nil
}

func (w *reduction) passes(ctx context.Context, list []pass) error {
	for _, p := range list {
		if w.spent() {
			return nil
		}
		if err := w.walk(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// walk makes one pass over the best source.
func (w *reduction) walk(ctx context.Context, p pass) error {
	a := &ahead{reduction: w, first: p.begin(w.best)}
	for a.first != nil && !w.spent() {
		c, shows, err := a.answer(ctx)
		if err != nil {
			return err
		}
		if shows {
			w.best = c.text
		}
		w.o.Progress(Progress{Tests: w.tests, Size: len(w.best), Round: w.round, Pass: p.name, Part: c.from.part()})
		a.advance(shows)
	}
	return nil
}
