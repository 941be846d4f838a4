package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// journal is the file of --out. It is made, and what was there replaced, when the first
// result is written: a mistake in the other flags does not cost what it has.
type journal struct {
	name string
	file *os.File
}

// begin returns what an interrupted run left in the file, if that is to be resumed, and
// has what is written now come after it; nil if there is nothing.
func (j *journal) begin(resume bool) (earlier io.Reader, err error) {
	if !resume {
		return nil, nil
	}
	text, err := os.ReadFile(j.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // less a last line that is not whole
	if len(text) == 0 {
		return nil, nil
	}
	if j.file, err = os.OpenFile(j.name, os.O_WRONLY, 0); err != nil {
		return nil, err
	}
	if err = j.file.Truncate(int64(len(text))); err == nil {
		_, err = j.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return bytes.NewReader(text), nil
}

func (j *journal) Write(text []byte) (int, error) {
	if j.file == nil {
		file, err := os.Create(j.name)
		if err != nil {
			return 0, err
		}
		j.file = file
	}
	return j.file.Write(text)
}

func (j *journal) Close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
