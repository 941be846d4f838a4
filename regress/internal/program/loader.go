package program

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Loader is a loader of ELF programs, of glibc or musl.
type Loader struct {
	Path    string
	Folders []string // searched first, as in LD_LIBRARY_PATH
	// Plain leaves out libraries for particular processors, which another machine may not have.
	Plain bool
}

// Libraries is the libraries of one program.
type Libraries struct {
	Paths   map[string]string // absolute, by the name that a program or library requests
	Missing []string          // that were not found
}

// Bounds of one question to a loader.
const (
	patience  = 10 * time.Second
	answerMax = 1 << 20
)

// Libraries asks the loader for the libraries that a program needs, and those that they need in turn.
// The program does not run.
func (l Loader) Libraries(ctx context.Context, file string) (Libraries, error) {
	found := Libraries{Paths: map[string]string{filepath.Base(l.Path): l.Path}}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out, errs answer
	ask := exec.CommandContext(ctx, l.Path, append(l.options(), file)...)
	ask.Env = []string{"LD_TRACE_LOADED_OBJECTS=1", "LD_HWCAP_MASK=0"}
	if !l.Plain {
		ask.Env = ask.Env[:1]
	}
	ask.Stdout, ask.Stderr, ask.WaitDelay = &out, &errs, time.Second
	failed := ask.Run()
	for line := range strings.Lines(out.String()) {
		requested, at, _ := strings.Cut(strings.TrimSpace(line), " => ")
		base := path.Base(requested)
		if end := strings.LastIndex(at, " (0x"); end >= 0 && filepath.IsAbs(at) && at[:end] != l.Path {
			found.Paths[base] = filepath.Clean(at[:end])
		} else if at == "not found" {
			found.Missing = append(found.Missing, requested)
		}
	}
	for line := range strings.Lines(errs.String()) { // musl tells here what is missing
		if rest, ok := strings.CutPrefix(line, "Error loading shared library "); ok {
			library, _, _ := strings.Cut(rest, ": ")
			found.Missing = append(found.Missing, library)
		}
	}
	first, _, _ := strings.Cut(errs.String(), "\n")
	switch {
	case failed == nil || len(found.Missing) > 0:
		return found, nil
	case ctx.Err() != nil:
		return found, errors.New("its loader does not answer")
	case first != "":
		return found, errors.New(first)
	}
	return found, failed
}

// options returns the arguments of the loader before the program.
func (l Loader) options() (options []string) {
	if strings.HasPrefix(filepath.Base(l.Path), "ld-musl-") {
		options = append(options, "--list")
	}
	if len(l.Folders) > 0 {
		options = append(options, "--library-path", strings.Join(l.Folders, ":"))
	}
	const mask = "--glibc-hwcaps-mask"
	if has, err := Holds(l.Path, mask[2:]); l.Plain && has && err == nil {
		options = append(options, mask, "none")
	}
	return options
}

// answer is the beginning of what a loader prints.
type answer struct{ bytes.Buffer }

func (a *answer) Write(b []byte) (int, error) {
	a.Buffer.Write(b[:min(len(b), answerMax-a.Len())])
	return len(b), nil
}
