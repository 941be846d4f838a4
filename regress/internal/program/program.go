// Package program finds the files that an executable needs to start: interpreters of scripts, and
// loader and libraries of ELF programs.
//
// It asks the loader for the libraries. It must not execute anything else.
package program

import (
	"bufio"
	"bytes"
	"debug/elf"
	"io"
	"os"
	"strings"
	"syscall"
)

// Script returns the interpreter of a script with its one argument, as the kernel reads them. It
// returns nil for a file that does not begin with #!.
func Script(file string) ([]string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, err
	}
	rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "#!")
	if rest = strings.Trim(rest, " \t"); !ok || rest == "" {
		return nil, nil
	}
	if end := strings.IndexAny(rest, " \t"); end >= 0 {
		return []string{rest[:end], strings.Trim(rest[end:], " \t")}, nil
	}
	return []string{rest}, nil
}

// Interpreter returns the path of a program's loader, or "" for a static program.
func Interpreter(f *elf.File) (string, error) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b := make([]byte, min(p.Filesz, 4096))
		if _, err := p.ReadAt(b, 0); err != nil {
			return "", err
		}
		return strings.TrimRight(string(b), "\x00"), nil
	}
	return "", nil
}

// Holds reports whether a file contains a text.
func Holds(file, text string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 256<<10)
	have := 0
	for {
		n, err := f.Read(buf[have:])
		have += n
		if bytes.Contains(buf[:have], []byte(text)) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		keep := min(have, len(text)-1)
		copy(buf, buf[have-keep:have])
		have = keep
	}
}
