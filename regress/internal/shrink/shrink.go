// Package shrink reduces a source while a test still passes: delta debugging. It removes whole forms,
// which begin at a line and end with a bracket or a line. Then it removes lines, bracketed groups and
// tokens, until nothing more can go, and at last spare spaces.
//
// It tests several candidates at once, but the result is the same as with one after another. A test
// that was started early is used only if the sequence reaches it (ahead.go).
//
// It is pure: no disk, clock, network or process. It must not know any language, nor the aim of the
// reduction: that is the caller's test.
package shrink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
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
	return Result{Source: w.best, Tests: w.tests, Done: err == nil && !w.spent()}, err
}

// reduction is a reduction in progress. One goroutine owns it, and tests run in others.
type reduction struct {
	o       Options
	best    []byte
	round   int
	tests   int
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
		if err := w.passes(ctx, dearPasses); err != nil {
			return err
		}
		if len(w.best) == before {
			return w.passes(ctx, lastPasses)
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

// tidying removes unneeded spaces for the reader: those at the beginning, indentation, blank lines,
// and all but one between two tokens. It comes last.
type tidying struct {
	text  []byte
	spare []gap // the gaps that may still go, in order
	size  int   // gaps at a time
	end   int   // the end of the next gaps
}

// A gap is a run of spaces whose last bytes, or all, are redundant.
type gap struct {
	from, to int
	kept     string
}

func newTidying(text []byte) step {
	t := tidying{text: text, spare: spare(text)}
	t.size, t.end = len(t.spare), len(t.spare)
	return t.nextAllowed()
}

// spare lists the gaps of a source that have redundant spaces.
func spare(text []byte) (list []gap) {
	add := func(from, to int, kept string) {
		if to-from > len(kept) {
			list = append(list, gap{from, to, kept})
		}
	}
	toks := tokens(text)
	for i, t := range toks {
		switch {
		case i == 0:
			add(t.from, t.at, "")
		case t.newline:
			add(t.from, t.at, "\n")
		default:
			add(t.from, t.at, " ")
		}
	}
	if words := bytes.TrimRight(text, " \t\n\v\f\r"); len(words) > 0 {
		end := ""
		if bytes.Contains(text[len(words):], []byte("\n")) {
			end = "\n"
		}
		add(len(words), len(text), end)
	}
	return list
}

func (t tidying) from() int { return max(0, t.end-t.size) }

func (t tidying) candidate() []byte {
	var text []byte
	at := 0
	for _, g := range t.spare[t.from():t.end] {
		text = append(append(text, t.text[at:g.from]...), g.kept...)
		at = g.to
	}
	return append(text, t.text[at:]...)
}

func (t tidying) next(shows bool) step {
	from := t.from()
	if shows {
		less := len(t.text)
		t.text = t.candidate()
		less -= len(t.text)
		rest := append([]gap(nil), t.spare[:from]...)
		for _, g := range t.spare[t.end:] {
			rest = append(rest, gap{g.from - less, g.to - less, g.kept})
		}
		t.spare = rest
	}
	t.end = from
	return t.nextAllowed()
}

func (t tidying) nextAllowed() step {
	for t.end == 0 {
		if t.size <= 1 || len(t.spare) == 0 {
			return nil
		}
		t.size, t.end = (t.size+1)/2, len(t.spare)
	}
	return t
}

func (t tidying) part() float64 { return 1 - float64(t.end)/float64(max(1, len(t.spare))) }

// unwrapping goes from bracket pair to bracket pair. It removes the pair with its content, the
// content, or the pair alone.
type unwrapping struct {
	text   []byte
	tokens []token
	groups []group
	at     int // index in groups
	way    way
}

type way int

const (
	whole way = iota
	inside
	around
	ways
)

func newUnwrapping(text []byte) step { return unwrapping{}.over(text).nextAllowed() }

// over returns the same place in another source.
func (u unwrapping) over(text []byte) unwrapping {
	u.text, u.tokens = text, tokens(text)
	u.groups = groups(u.tokens)
	return u
}

func (u unwrapping) candidate() []byte {
	g := u.groups[u.at]
	open, end := u.tokens[g.open], u.tokens[g.close]
	switch u.way {
	case whole:
		return slices.Concat(u.text[:open.from], u.text[end.to:])
	case inside:
		return slices.Concat(u.text[:open.at+1], u.text[end.at:])
	}
	// The spaces before a bracket remain: they may separate two words.
	return slices.Concat(u.text[:open.at], u.text[open.at+1:end.at], u.text[end.at+1:])
}

func (u unwrapping) next(shows bool) step {
	switch {
	case !shows:
		u.way++
	case u.way == inside:
		u = u.over(u.candidate())
		u.way++
	default: // what was in or behind the pair has taken its place
		u = u.over(u.candidate())
		u.way = whole
	}
	return u.nextAllowed()
}

// nextAllowed goes on to the next thing that can be removed.
func (u unwrapping) nextAllowed() step {
	for {
		if u.way == ways {
			u.at, u.way = u.at+1, whole
		}
		if u.at >= len(u.groups) {
			return nil
		}
		g := u.groups[u.at]
		if u.way != inside || u.tokens[g.open].at+1 < u.tokens[g.close].at {
			return u
		}
		u.way++
	}
}

func (u unwrapping) part() float64 { return float64(u.at) / float64(max(1, len(u.groups))) }
