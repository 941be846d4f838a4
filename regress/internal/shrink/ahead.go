package shrink

import (
	"context"
	"crypto/sha256"
	"sync"
)

// A step is where a pass is: the candidate that it would test now, and where the answer
// leads. Steps do not change, so that the way ahead can be walked on a guess.
type step interface {
	// candidate returns what to test: shorter than the source of the pass so far.
	candidate() []byte
	// next returns the step behind this one; nil at the end of the pass.
	next(shows bool) step
	// part is how much of the source the pass has been over, from 0 to 1.
	part() float64
}

// candidate is a step with what it tests.
type candidate struct {
	from  step
	text  []byte
	key   key
	guess bool // what its answer is taken to be until it is known
}

func newCandidate(s step) *candidate {
	text := s.candidate()
	return &candidate{from: s, text: text, key: sha256.Sum256(text)}
}

// tested is what came of a test.
type tested struct {
	key   key
	shows bool
	err   error
}

// ahead is the way of a pass from the step whose answer is wanted over those that follow
// if the guesses are right. Lanes that the first leaves idle test the others. Mostly an
// answer is no, so no is the guess, but behind two that were yes.
type ahead struct {
	*work
	first step
	way   []*candidate // the first is that of first
	yes   int          // answers in a row
}

// answer returns the candidate of the first step, and what its test said.
func (a *ahead) answer(ctx context.Context) (*candidate, bool, error) {
	if len(a.way) == 0 {
		a.way = append(a.way, a.guessed(a.first))
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
		if t := a.take(); t.err != nil && t.key == head.key {
			return head, false, t.err
		}
	}
}

// guessed makes a candidate of a step, with a guess.
func (a *ahead) guessed(s step) *candidate {
	c := newCandidate(s)
	c.guess = a.yes >= 2
	return c
}

// fill starts tests of what lies ahead, until no lane is idle or the way is long.
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
		a.ran++
		a.run(c)
	}
}

// extend lengthens the way by one step, if the pass goes on there.
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
	a.way = append(a.way, a.guessed(s))
	return true
}

// take waits for a test, and cuts the way off behind a guess that was wrong. One that
// failed is made again if its turn comes.
func (a *ahead) take() tested {
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

// advance goes on behind the first step.
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

// start makes the goroutines in which tests run. stop ends them, with the tests under
// way.
func (w *work) start(ctx context.Context, test Test) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	w.o.Lanes = max(1, w.o.Lanes)
	w.ended = make(chan tested, w.o.Lanes)
	w.run = func(c *candidate) {
		all.Go(func() {
			shows, err := test(ctx, c.text)
			w.ended <- tested{c.key, shows, err}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}
