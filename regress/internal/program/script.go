package program

import (
	"bufio"
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
