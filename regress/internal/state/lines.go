package state

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"os"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Line records that the first run of a case is over. Lines survive kill -9 of the process, for
// --resume. A torn last line counts as not written.
type Line struct {
	Name      []byte             `json:"name"`
	Identical bool               `json:"identical"` // if false, the run's store has the outcome
	Kind      regress.EndingKind `json:"kind"`
	Code      int                `json:"code"`
	CPU       int64              `json:"cpu_ns"`
	Wall      int64              `json:"wall_ns"`
	Peak      int64              `json:"peak_kib"`
	Engine    *outcome.EngineRun `json:"engine,omitempty"`
	// Ignored names the parts that were excluded from the comparison, in printed form.
	Ignored []string `json:"ignored,omitempty"`
	Reused  bool     `json:"reused,omitempty"` // no run: the outcome is that of an earlier check
	Forked  bool     `json:"forked,omitempty"` // a fork of a command that had started
	Silent  bool     `json:"silent,omitempty"` // without output
}

// lineSize is the buffer for one line, in bytes. Most lines are shorter.
const lineSize = 512

// printEngine returns an engine's account as the files of a run keep it. The worker's name is
// in printed form, because JSON holds no raw bytes.
func printEngine(r *outcome.EngineRun) *outcome.EngineRun {
	if r == nil {
		return nil
	}
	p := *r
	p.Worker = name.Print(r.Worker)
	return &p
}

// parseEngine is the inverse of printEngine, in place. A worker's name that cannot be parsed
// stays as it is.
func parseEngine(r *outcome.EngineRun) {
	if r == nil {
		return
	}
	if worker, err := name.Parse(r.Worker); err == nil {
		r.Worker = worker
	}
}

// Lines appends to a run's cases.jsonl. Each line has a checksum. One goroutine calls Add; several may call At.
type Lines struct {
	run *Run
	f   *os.File
	buf *bufio.Writer
	end int64 // offset of the end of all lines, those in buf included
}

// linesName is the name of the file of lines.
const linesName = "cases.jsonl"

// OpenLines opens a run's lines for appending, and cuts off a torn last one. First it passes each line
// of the file to take, with its offset.
func (r *Run) OpenLines(take func(at int64, line *Line)) (*Lines, error) {
	whole, err := r.scanLines(func(at int64, line *Line) bool {
		take(at, line)
		return true
	})
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(r.File(linesName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err == nil {
		if err = f.Truncate(whole); err != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return &Lines{r, f, bufio.NewWriterSize(f, 64<<10), whole}, nil
}

// At returns a case's line, at an offset that OpenLines passed to take, or that Next returned before the
// last Flush.
func (l *Lines) At(at int64, caseName string) (line Line, err error) {
	from := bufio.NewReaderSize(io.NewSectionReader(l.f, at, math.MaxInt64-at), lineSize)
	text, err := from.ReadBytes('\n')
	switch {
	case err != nil && err != io.EOF:
		return line, fault.Environmentf("state of the run: %w", err)
	case err != nil || !isWhole(text) || json.Unmarshal(text, &line) != nil || string(line.Name) != caseName:
		return Line{}, fault.Inputf("somebody else changed %s, which has the first runs of cases: repeat the command with --resume", l.f.Name())
	}
	parseEngine(line.Engine)
	return line, nil
}

// Next returns the offset of the line that is added next.
func (l *Lines) Next() int64 { return l.end }

// Add appends a line. The line reaches the file with the next Flush at the latest.
func (l *Lines) Add(line Line) error {
	line.Engine = printEngine(line.Engine)
	text, err := json.Marshal(line)
	if err == nil {
		text = addSum(text[:len(text)-1])
		_, err = l.buf.Write(text)
	}
	if err != nil {
		return fault.Environmentf("state of the run: %w", err)
	}
	l.end += int64(len(text))
	return nil
}

// Flush passes everything to the kernel.
func (l *Lines) Flush() error {
	if err := l.buf.Flush(); err != nil {
		return fault.Environmentf("state of the run: %w", err)
	}
	return nil
}

// Close flushes and closes. The run then knows how long the file is.
func (l *Lines) Close() error {
	l.run.Journal = l.end
	return errors.Join(l.Flush(), l.f.Close())
}

// ReadLines returns the lines of a run. It keeps none of them: a million take a gigabyte.
func (r *Run) ReadLines() iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		_, err := r.scanLines(func(_ int64, line *Line) bool { return yield(line, nil) })
		if err != nil {
			yield(nil, err)
		}
	}
}

// scanLines passes each whole line to take, with its offset, until take returns false. It returns the number of
// bytes in whole lines. A file that does not exist has no lines.
func (r *Run) scanLines(take func(at int64, line *Line) (more bool)) (whole int64, err error) {
	damaged := fault.Inputf("%s, the journal of run %s, is damaged: run muster %s again, without --resume", r.File(linesName), r.ID, r.Command)
	f, err := os.Open(r.File(linesName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	defer f.Close() // only read
	for from := bufio.NewReaderSize(f, 64<<10); err == nil; {
		var text []byte
		if text, err = from.ReadBytes('\n'); err != nil {
			break // at the end of the file, the rest was torn by an interruption: its case runs again
		}
		if err := r.checkVersion(); err != nil {
			return 0, err
		}
		line := new(Line)
		if !isWhole(text) || json.Unmarshal(text, line) != nil {
			return 0, damaged
		}
		parseEngine(line.Engine)
		at := whole
		whole += int64(len(text))
		if !take(at, line) {
			return whole, nil
		}
	}
	switch {
	case err != io.EOF && !errors.Is(err, os.ErrNotExist):
		return 0, fault.Environmentf("state of run %s: %w", r.ID, err)
	case r.Finished && whole != r.Journal:
		return 0, damaged
	}
	return whole, nil
}

// addSum completes a JSON object that lacks its closing brace. It appends a checksum, the brace and a line end.
func addSum(text []byte) []byte {
	return fmt.Appendf(text, `,"crc32":"%08x"}`+"\n", crc32.ChecksumIEEE(text))
}

// isWhole reports whether a line is as addSum ended it.
func isWhole(line []byte) bool {
	end := len(line) - len(addSum(nil))
	return end >= 0 && bytes.Equal(line, addSum(line[:end:end]))
}
