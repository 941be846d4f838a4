package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// family is a process and all its descendants. nginx, for example, starts several processes.
type family struct {
	root     int
	members  []int
	searched time.Time
}

// threads counts the threads of the family. An ended process has none.
func (f *family) threads() (int, error) {
	if runtime.GOOS != "linux" {
		return 0, errors.New("the threads of a process can be counted on Linux only: name the server's --admin address")
	}
	n, err := threadsOf(f.root)
	if err != nil {
		return 0, err
	}
	if now := time.Now(); now.Sub(f.searched) >= familyEvery {
		f.searched = now
		f.members = descendants(f.root)
	}
	for _, pid := range f.members {
		if more, err := threadsOf(pid); err == nil {
			n += more
		}
	}
	return n, nil
}

// threadsOf counts the links of the folder task, which has a folder for each thread. Unlike
// reading the folder, that takes no longer if a process has many threads.
func threadsOf(pid int) (int, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(fmt.Sprintf("/proc/%d/task", pid), &st); err != nil {
		return 0, err
	}
	return int(st.Nlink) - 2, nil
}

// descendants returns the children of a process, their children, and so on.
func descendants(root int) (found []int) {
	children := map[int][]int{}
	list, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, name := range list {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		// The program's name, in parentheses, may contain any character.
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
