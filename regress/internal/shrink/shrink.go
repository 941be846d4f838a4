package shrink

import (
	"context"
	"crypto/sha256"
)

// A Test reports whether a candidate still has what is wanted. It is called by several
// goroutines at once, and should give the same answer whenever it is asked. It must not
// change the candidate. Its error ends the work.
type Test func(ctx context.Context, candidate []byte) (bool, error)

// Options bounds the work.
type Options struct {
	Lanes    int            // candidates tested at once; at least 1
	TestsMax int            // 0 = no limit
	Progress func(Progress) // hears of each test that counts, in the goroutine of Reduce; may be nil
}

// Progress is how far the work is.
type Progress struct {
	Tests int    // that counted: the same whatever the number of lanes
	Size  int    // of the smallest source so far, in bytes
	Round int    // from 1: all passes over the source
	Pass  string // what is being left out: forms, lines, groups, tokens, spaces
	// Of this pass, at the present size of what it leaves out: how much of the source
	// it has been over, from 0 to 1.
	Part float64
}

// Result is what Reduce came to.
type Result struct {
	Source []byte
	Tests  int  // that counted
	Ran    int  // those, and the guesses that came to nothing
	Done   bool // nothing more can go; false: TestsMax was reached, or the work was ended
}

// Reduce returns the smallest source that it finds for which test says yes, which it
// must say of source; that is not asked. It ends with ctx or with the first error of test:
// what it found until then it returns all the same, with the error. The source is not changed.
func Reduce(ctx context.Context, source []byte, o Options, test Test) (Result, error) {
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	w := &work{o: o, best: source, answers: map[key]bool{}, asked: map[key]bool{}, under: map[key]bool{}}
	stop := w.start(ctx, test)
	defer stop()
	err := w.rounds(ctx)
	return Result{Source: w.best, Tests: w.tests, Ran: w.ran, Done: err == nil && !w.spent()}, err
}

// work is a reduction under way. One goroutine owns it; tests run in others.
type work struct {
	o       Options
	best    []byte
	round   int
	tests   int
	ran     int
	answers map[key]bool // of all candidates that were tested
	asked   map[key]bool // those of them whose turn came

	run     func(*candidate) // starts a test; set by start, as is
	ended   chan tested
	running int
	under   map[key]bool // the candidates of the tests that run
}

// key tells candidates apart.
type key [sha256.Size]byte

func (w *work) spent() bool { return w.o.TestsMax > 0 && w.tests >= w.o.TestsMax }

// rounds makes passes until none of them finds anything to leave out. The last ones are
// dear, and come when the others have nothing more to say.
func (w *work) rounds(ctx context.Context) error {
	for !w.spent() {
		w.round++
		before := len(w.best)
		if err := w.passes(ctx, cheap()); err != nil {
			return err
		}
		if len(w.best) < before {
			continue
		}
		if err := w.passes(ctx, dear()); err != nil {
			return err
		}
		if len(w.best) == before {
			return w.passes(ctx, last())
		}
	}
	return nil
}

func (w *work) passes(ctx context.Context, list []pass) error {
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
func (w *work) walk(ctx context.Context, p pass) error {
	a := &ahead{work: w, first: p.begin(w.best)}
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
