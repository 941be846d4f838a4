package files

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"time"
	"unicode"

	"muster/fileio"
)

// StatusError is the answer of a server that did not execute a request.
type StatusError struct {
	Method, Address string
	Status          int    // such as http.StatusNotFound
	Words           string // the first line of the answer: printable, wordsMax bytes at most

	retryAfter time.Duration
}

// wordsMax bounds the quoted text of a server, which may be untrusted.
const wordsMax = 200

func statusError(q *exchange, answer *http.Response) error {
	defer answer.Body.Close()
	e := &StatusError{Method: q.method, Address: q.address, Status: answer.StatusCode, retryAfter: retryAfterOf(answer.Header)}
	if to := answer.Header.Get("Location"); e.Status/100 == 3 && to != "" {
		e.Words = printable("it has moved to " + to)
		return e
	}
	// Ignore read errors: the status suffices.
	line, _ := bufio.NewReader(io.LimitReader(answer.Body, wordsMax)).ReadString('\n')
	e.Words = printable(line)
	return e
}

// printable replaces characters that could affect a terminal.
func printable(line string) string {
	line = strings.TrimSpace(line[:min(len(line), wordsMax)])
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, line)
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.Address, e.Status, http.StatusText(e.Status))
	if e.Words != "" {
		text += ": " + e.Words
	}
	return text
}

// Unwrap returns the corresponding error of a Store, or nil.
func (e *StatusError) Unwrap() error {
	switch e.Status {
	case http.StatusNotFound, http.StatusGone:
		return fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return fs.ErrPermission
	case http.StatusPreconditionFailed:
		return fileio.ErrChanged
	case http.StatusServiceUnavailable:
		return fileio.ErrBusy
	case http.StatusInsufficientStorage:
		return syscall.ENOSPC
	}
	return nil
}
