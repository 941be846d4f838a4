package load

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// family is a process and all that it has started, as nginx does.
type family struct {
	root    int
	members []int
	sought  time.Time
}

// threads counts those of the family. A process that has ended since has none.
func (f *family) threads() (int, error) {
	n, err := threadsOf(f.root)
	if err != nil {
		return 0, err
	}
	if now := time.Now(); now.Sub(f.sought) >= familyEvery {
		f.sought = now
		f.members = descendants(f.root)
	}
	for _, pid := range f.members {
		if more, err := threadsOf(pid); err == nil {
			n += more
		}
	}
	return n, nil
}

// threadsOf reads one figure of the kernel's, which does not take longer where there are
// many threads, as reading the folder task would.
func threadsOf(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if text, ok := bytes.CutPrefix(line, []byte("Threads:")); ok {
			return strconv.Atoi(string(bytes.TrimSpace(text)))
		}
	}
	return 0, fmt.Errorf("/proc/%d/status does not tell", pid)
}

// descendants are the processes that one has started, and theirs.
func descendants(root int) (found []int) {
	children := map[int][]int{}
	list, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, name := range list {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The name of the program, in brackets, may have anything in it.
		_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	for next := children[root]; len(next) > 0; next = next[1:] {
		found = append(found, next[0])
		next = append(next, children[next[0]]...)
	}
	return found
}
