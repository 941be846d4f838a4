package verdict

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/state"
)

// flushEvery bounds what a killed process loses of a journal.
const flushEvery = 200 * time.Millisecond

// A Journal keeps the first runs of cases for --resume. One goroutine at a
// time uses it; several may read lines after a flush.
type Journal struct {
	lines   *state.Lines
	flushed time.Time
}

// Open opens the journal of a run for appending. cases are the selected ones. Open returns what the run
// did before an interrupt.
func (j *Journal) Open(run *state.Run, cases []corpus.Entry) (done *Finished, err error) {
	done = &Finished{cases: cases}
	if j.lines, err = run.OpenLines(done.add); err != nil {
		return nil, err
	}
	done.lines, done.byName = j.lines, nil
	return done, nil
}

// addLine adds a first run, and returns the offset of its line.
func (j *Journal) addLine(l state.Line) (at int64, err error) {
	at = j.lines.Next()
	if err = j.lines.Add(l); err != nil {
		return 0, err
	}
	return at, j.flush()
}

// flush writes what is buffered, at most once every flushEvery.
func (j *Journal) flush() error {
	if time.Since(j.flushed) < flushEvery {
		return nil
	}
	j.flushed = time.Now()
	return j.lines.Flush()
}

// Close ends the journal.
func (j *Journal) Close() error { return j.lines.Close() }

// Finished has the cases that an interrupted run finished. It keeps the offset of each one's line in the
// journal, and whether the case differed. That takes 9 bytes a case, where a million lines take a
// gigabyte. Several goroutines may call its methods once all lines are added.
type Finished struct {
	Count int // of finished cases

	cases   []corpus.Entry // selected
	byName  []int          // the cases' indexes, by their names; nil until the first line
	lines   *state.Lines
	at      []int64 // offset of the last line of each case, or noLine
	differs []bool  // by that line
}

// noLine replaces the offset of a case that has no line, or needs none.
const noLine = -1

// add adds a line of the journal. A later line of a case replaces an earlier one. A case that is not
// selected is ignored.
func (f *Finished) add(at int64, l *state.Line) {
	if f.byName == nil {
		f.prepare()
	}
	place, found := slices.BinarySearchFunc(f.byName, string(l.Name), func(i int, name string) int {
		return strings.Compare(f.cases[i].Name, name)
	})
	if !found {
		return
	}
	i := f.byName[place]
	if !f.Has(i) {
		f.Count++
	}
	f.at[i], f.differs[i] = at, !l.Identical
}

func (f *Finished) prepare() {
	f.byName, f.at, f.differs = make([]int, len(f.cases)), make([]int64, len(f.cases)), make([]bool, len(f.cases))
	for i := range f.cases {
		f.byName[i], f.at[i] = i, noLine
	}
	slices.SortFunc(f.byName, func(i, j int) int { return cmp.Compare(f.cases[i].Name, f.cases[j].Name) })
}

// Has reports whether a case is finished.
func (f *Finished) Has(index int) bool { return f.at != nil && f.at[index] != noLine }

// line returns the line of a finished case.
func (f *Finished) line(index int) (state.Line, error) {
	return f.lines.At(f.at[index], f.cases[index].Name)
}
