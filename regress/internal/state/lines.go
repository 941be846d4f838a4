package state

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strconv"

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
}

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

// Lines appends to a run's cases.jsonl. One goroutine uses it.
type Lines struct{ journal }

// OpenLines opens a run's lines for appending, without a torn last one.
func (r *Run) OpenLines() (*Lines, error) {
	_, whole, err := r.readLines()
	if err != nil {
		return nil, err
	}
	j, err := openJournal(r.File("cases.jsonl"), whole)
	if err != nil {
		return nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return &Lines{j}, nil
}

// Add appends a line. The line reaches the file with the next Flush at the latest.
func (l *Lines) Add(line Line) error {
	text, err := line.appendTo(l.buf.AvailableBuffer())
	if err == nil {
		_, err = l.buf.Write(text)
	}
	if err != nil {
		return fault.Environmentf("state of the run: %w", err)
	}
	return nil
}

// appendTo appends the same bytes as encoding/json, at a fifth of the cost. There is a line for
// every case.
func (l *Line) appendTo(b []byte) ([]byte, error) {
	kind, err := l.Kind.MarshalText()
	if err != nil {
		return nil, err
	}
	b = append(b, `{"name":"`...)
	b = base64.StdEncoding.AppendEncode(b, l.Name)
	b = append(b, `","identical":`...)
	b = strconv.AppendBool(b, l.Identical)
	b = append(b, `,"kind":"`...)
	b = append(b, kind...)
	b = append(b, '"')
	for _, f := range [...]struct {
		key   string
		value int64
	}{{"code", int64(l.Code)}, {"cpu_ns", l.CPU}, {"wall_ns", l.Wall}, {"peak_kib", l.Peak}} {
		b = append(b, ',', '"')
		b = append(b, f.key...)
		b = append(b, '"', ':')
		b = strconv.AppendInt(b, f.value, 10)
	}
	if l.Engine != nil {
		text, err := json.Marshal(printEngine(l.Engine))
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"engine":`...), text...)
	}
	if len(l.Ignored) > 0 {
		names, err := json.Marshal(l.Ignored)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"ignored":`...), names...)
	}
	if l.Reused {
		b = append(b, `,"reused":true`...)
	}
	if l.Forked {
		b = append(b, `,"forked":true`...)
	}
	return append(b, '}', '\n'), nil
}

// ReadLines returns the lines of an interrupted run.
func (r *Run) ReadLines() ([]Line, error) {
	lines, _, err := r.readLines()
	return lines, err
}

// readLines also returns the number of bytes in whole lines.
func (r *Run) readLines() (lines []Line, whole int64, err error) {
	lines, whole, err = readJournal[Line](r.File("cases.jsonl"))
	if err != nil {
		return nil, 0, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	for i := range lines {
		parseEngine(lines[i].Engine)
	}
	return lines, whole, nil
}

// LinesByName indexes lines by the names of their cases.
func LinesByName(lines []Line) map[string]Line {
	m := make(map[string]Line, len(lines))
	for _, l := range lines {
		m[string(l.Name)] = l
	}
	return m
}

// journal is a file of JSON lines that a run appends to. It survives kill -9 of the process. A
// torn last line counts as not written.
type journal struct {
	f   *os.File
	buf *bufio.Writer
}

// openJournal opens a file for appending after its whole bytes.
func openJournal(path string, whole int64) (journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return journal{}, err
	}
	if err := f.Truncate(whole); err != nil {
		return journal{}, errors.Join(err, f.Close())
	}
	return journal{f, bufio.NewWriterSize(f, 64<<10)}, nil
}

// Flush passes everything to the kernel.
func (j *journal) Flush() error {
	if err := j.buf.Flush(); err != nil {
		return fault.Environmentf("state of the run: %w", err)
	}
	return nil
}

// Close flushes and closes.
func (j *journal) Close() error {
	return errors.Join(j.Flush(), j.f.Close())
}

// readJournal returns the whole lines of a file and the number of their bytes. A file that does
// not exist has no lines.
func readJournal[T any](path string) (lines []T, whole int64, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for len(text) > 0 {
		one, rest, ended := bytes.Cut(text, []byte("\n"))
		var line T
		if !ended || json.Unmarshal(one, &line) != nil {
			break // torn by an interruption: its case runs again
		}
		lines = append(lines, line)
		whole += int64(len(one)) + 1
		text = rest
	}
	return lines, whole, nil
}
