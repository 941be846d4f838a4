package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// A journal is the file of --out. The first result creates or replaces it, so a mistake in
// another flag does not destroy earlier results.
type journal struct {
	name string
	file *os.File
}

// begin returns the results of the interrupted run if resume is set, and appends new ones to
// them. It returns nil if the file has none.
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
	text = text[:bytes.LastIndexByte(text, '\n')+1] // drop an incomplete last line
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
