package state

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"

	"muster/regress/internal/fault"
)

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
