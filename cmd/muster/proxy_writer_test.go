package main_test

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// byteCount calls a function after a number of bytes.
type byteCount struct {
	mu   sync.Mutex
	left int
	over func()
}

var errEnough = errors.New("the test ends it here")

func (c *byteCount) add(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left -= n; c.left >= 0 {
		return nil
	}
	c.over()
	return errEnough
}

type countedBody struct {
	io.ReadCloser
	count *byteCount
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if e := b.count.add(n); e != nil {
		return 0, e
	}
	return n, err
}

type countedWriter struct {
	http.ResponseWriter
	count *byteCount
}

func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countedWriter) Write(p []byte) (int, error) {
	if err := w.count.add(len(p)); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

// lateWriter waits before the first write that it forwards.
type lateWriter struct {
	http.ResponseWriter
	wait func()
}

func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lateWriter) WriteHeader(code int) {
	w.wait()
	w.ResponseWriter.WriteHeader(code)
}
