package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

// worded returns the text of err with our words in place of those of Go's library. The text
// of a wrapped error is a part of the text of err.
func worded(err error) string {
	text := err.Error()
	for _, e := range chain(err) {
		if words := wordsOf(e); words != "" {
			text = strings.ReplaceAll(text, e.Error(), words)
		}
	}
	// A gRPC status has the text of its cause alone.
	return strings.NewReplacer("dial tcp ", "", ": connect: ", ": ").Replace(text)
}

// chain lists err and all that it wraps, the outermost first.
func chain(err error) []error {
	list := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			list = append(list, chain(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			list = append(list, chain(inner)...)
		}
	}
	return list
}

// wordsOf returns our words for one error of Go's library, "" for any other.
func wordsOf(err error) string {
	switch e := err.(type) {
	case *pflag.InvalidValueError:
		return valueWords(e)
	case *strconv.NumError:
		return numberWords(e)
	case *syntax.Error:
		return fmt.Sprintf("that is no regular expression: %s: %s", e.Code, e.Expr)
	case *url.Error:
		return e.URL + ": " + e.Err.Error()
	case *net.OpError:
		return networkWords(e)
	case *net.AddrError:
		return e.Err
	case *fs.PathError:
		return fileWords(e.Op, e.Path, e.Err)
	case *os.LinkError:
		return fileWords(e.Op, e.New, e.Err)
	case *os.SyscallError:
		return e.Err.Error()
	}
	return ""
}

// valueWords words a value that a flag of Go's own types refuses. Our types have their own
// words.
func valueWords(e *pflag.InvalidValueError) string {
	wanted, known := map[string]string{
		"int": "a whole number, such as 4", "bool": "true or false", "duration": "a time, such as 500ms, 10s or 2m",
		"float64": "a number, such as 1.5", "int64": "a whole number, such as 4",
	}[e.GetFlag().Value.Type()]
	if !known {
		return ""
	}
	return fmt.Sprintf("--%s %q: give it %s", e.GetFlag().Name, e.GetValue(), wanted)
}

func numberWords(e *strconv.NumError) string {
	switch {
	case errors.Is(e.Err, strconv.ErrRange):
		return fmt.Sprintf("%q is out of range", e.Num)
	case e.Func == "ParseBool":
		return fmt.Sprintf("%q is neither true nor false", e.Num)
	}
	return fmt.Sprintf("%q is not a number", e.Num)
}

func networkWords(e *net.OpError) string {
	reason := e.Err.Error()
	var unknown *net.DNSError
	var errno syscall.Errno
	switch {
	case errors.As(e.Err, &unknown) && unknown.IsNotFound:
		return fmt.Sprintf("no machine has the name %s", unknown.Name)
	case errors.As(e.Err, &unknown):
		return fmt.Sprintf("the name %s cannot be looked up", unknown.Name)
	case errors.As(e.Err, &errno):
		reason = errno.Error()
	case e.Timeout():
		reason = "no answer in time"
	}
	if e.Op == "listen" {
		reason += ": name another address or port"
	}
	if e.Addr == nil {
		return reason
	}
	return e.Addr.String() + ": " + reason
}

// fileWords words why an operation on a file failed.
func fileWords(op, path string, err error) string {
	folder := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && makes(op) && lacks(folder):
		return fmt.Sprintf("the folder %s does not exist: make it, or name another", folder)
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist"
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("a file is where %s wants a folder: name another path", path)
	case errors.Is(err, syscall.EISDIR):
		return path + " is a folder: name a file"
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("you may not use %s: change its permissions, or name another", path)
	}
	return path + ": " + err.Error()
}

// makes reports whether an operation makes files of this machine. Files of a server have
// other operations.
func makes(op string) bool { return op == "open" || op == "mkdir" }

func lacks(folder string) bool {
	_, err := os.Stat(folder)
	return errors.Is(err, fs.ErrNotExist)
}
