package shrink

import (
	"context"
	"crypto/sha256"
	"sync"
)

// A step is a state of a pass: the candidate to test, and the step after each answer. Steps do not
// change, so that a pass can be followed ahead on guesses.
type step interface {
	// candidate returns the text to test: shorter than the source of the pass so far.
	candidate() []byte
	// next returns the step after this one; nil at the end of the pass.
	next(shows bool) step
	// part returns how much of the source the pass has covered, from 0 to 1.
	part() float64
}

// candidate is a step with its text.
type candidate struct {
	from  step
	text  []byte
	key   key
	guess bool // the assumed answer until the test ends
}

// testResult is the result of a test.
type testResult struct {
	key   key
	shows bool
	err   error
}

// ahead is the path of a pass from its current step over the steps that follow if the guesses are
// right. Lanes that the current step leaves idle test the later ones. Most answers are no. So the
// guess is no, except after two answers that were yes.
type ahead struct {
	*reduction
	first step
	way   []*candidate // the first belongs to the field first
	yes   int          // answers in a row
}

// answer returns the candidate of the current step, and the result of its test.
func (a *ahead) answer(ctx context.Context) (*candidate, bool, error) {
	if len(a.way) == 0 {
		a.way = append(a.way, a.newGuess(a.first))
	}
	head := a.way[0]
	for {
		if shows, known := a.answers[head.key]; known {
			if !a.asked[head.key] {
				a.asked[head.key] = true
				a.tests++
			}
			return head, shows, nil
		}
		if err := ctx.Err(); err != nil {
			return head, false, err
		}
		a.fill()
		if t := a.awaitTest(); t.err != nil && t.key == head.key {
			return head, false, t.err
		}
	}
}

func (a *ahead) newGuess(s step) *candidate {
	text := s.candidate()
	return &candidate{from: s, text: text, key: sha256.Sum256(text), guess: a.yes >= 2}
}

// fill starts tests ahead until no lane is idle or the path is long.
func (a *ahead) fill() {
	for i := 0; a.running < a.o.Lanes && i < 4*a.o.Lanes; i++ {
		if i == len(a.way) && !a.extend() {
			return
		}
		c := a.way[i]
		if _, known := a.answers[c.key]; known || a.under[c.key] {
			continue
		}
		a.under[c.key] = true
		a.running++
		a.run(c)
	}
}

// extend lengthens the path by one step, if the pass continues there.
func (a *ahead) extend() bool {
	last := a.way[len(a.way)-1]
	shows, known := a.answers[last.key]
	if !known {
		shows = last.guess
	}
	s := last.from.next(shows)
	if s == nil {
		return false
	}
	last.guess = shows
	a.way = append(a.way, a.newGuess(s))
	return true
}

// awaitTest waits for a test. If a guess was wrong, it cuts the path off behind it. A failed test
// is repeated if its turn comes.
func (a *ahead) awaitTest() testResult {
	t := <-a.ended
	a.running--
	delete(a.under, t.key)
	if t.err != nil {
		return t
	}
	a.answers[t.key] = t.shows
	for i, c := range a.way {
		if c.key == t.key && c.guess != t.shows {
			a.way = a.way[:i+1]
			break
		}
	}
	return t
}

// advance continues behind the current step.
func (a *ahead) advance(shows bool) {
	head := a.way[0]
	if a.yes++; !shows {
		a.yes = 0
	}
	if len(a.way) > 1 && head.guess == shows {
		a.way = a.way[1:]
		a.first = a.way[0].from
		return
	}
	a.way = nil
	a.first = head.from.next(shows)
}

// start starts the goroutines of the tests. stop ends them and the tests under way.
func (w *reduction) start(ctx context.Context, test Test) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	w.o.Lanes = max(1, w.o.Lanes)
	w.ended = make(chan testResult, w.o.Lanes)
	w.run = func(c *candidate) {
		all.Go(func() {
			shows, err := test(ctx, c.text)
			w.ended <- testResult{c.key, shows, err}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}
