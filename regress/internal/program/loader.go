package program

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
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
	Missing []Missing
}

// Missing is a library that was not found.
type Missing struct{ Library, By string }

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
			found.Missing = append(found.Missing, Missing{Library: requested})
		}
	}
	for line := range strings.Lines(errs.String()) { // musl tells here what is missing
		if rest, ok := strings.CutPrefix(line, "Error loading shared library "); ok {
			library, _, _ := strings.Cut(rest, ": ")
			found.Missing = append(found.Missing, Missing{Library: library})
		}
	}
	for i, none := range found.Missing {
		found.Missing[i].By = found.user(file, none.Library)
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

// user returns the program, or the library of it, that requests a library.
func (f Libraries) user(file, library string) string {
	for _, by := range append([]string{file}, slices.Sorted(maps.Values(f.Paths))...) {
		if requests(by, library) {
			return by
		}
	}
	return file
}

func requests(file, library string) bool {
	f, err := elf.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	return err == nil && slices.Contains(needed, library)
}

// answer is the beginning of what a loader prints.
type answer struct{ bytes.Buffer }

func (a *answer) Write(b []byte) (int, error) {
	a.Buffer.Write(b[:min(len(b), answerMax-a.Len())])
	return len(b), nil
}
