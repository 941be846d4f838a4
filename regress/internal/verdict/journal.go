package verdict

import (
	"errors"
	"time"

	"muster/regress/internal/state"
)

// flushEvery bounds what a killed process loses of a journal.
const flushEvery = 200 * time.Millisecond

// A Journal keeps the first runs of cases and the pairs of runs for --resume. One goroutine at a
// time uses it.
type Journal struct {
	lines   *state.Lines
	pairs   *state.Pairs
	flushed time.Time
}

// Open opens the journal of a run for appending. It returns what the run did before an interrupt.
func (j *Journal) Open(run *state.Run) (done []state.Line, pairs []state.Pair, err error) {
	if done, err = run.ReadLines(); err != nil {
		return nil, nil, err
	}
	if j.lines, err = run.OpenLines(); err != nil {
		return nil, nil, err
	}
	if j.pairs, pairs, err = run.OpenPairs(); err != nil {
		return nil, nil, errors.Join(err, j.lines.Close())
	}
	return done, pairs, nil
}

// addLine adds a first run.
func (j *Journal) addLine(l state.Line) error {
	if err := j.lines.Add(l); err != nil {
		return err
	}
	return j.flush()
}

// AddPair adds a pair of runs.
func (j *Journal) AddPair(p state.Pair) error {
	if err := j.pairs.Add(p); err != nil {
		return err
	}
	return j.flush()
}

// flush writes what is buffered, at most once every flushEvery.
func (j *Journal) flush() error {
	if time.Since(j.flushed) < flushEvery {
		return nil
	}
	j.flushed = time.Now()
	return errors.Join(j.pairs.Flush(), j.lines.Flush())
}

// CloseLines ends the first runs.
func (j *Journal) CloseLines() error { return j.lines.Close() }

// ClosePairs ends the pairs.
func (j *Journal) ClosePairs() error { return j.pairs.Close() }
