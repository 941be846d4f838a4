package lane

import "syscall"

// exceededLimit returns OutOfMemory or OutputLimit if the running case exceeds its limit, else
// Exited. A full file system is an error.
func (h *helper) exceededLimit() (ending int, err error) {
	if limit := h.setup.MemoryMax; limit > 0 {
		if kib := h.tree.resident() >> 10; kib > h.memory.peakMax(limit, kib) {
			return OutOfMemory, nil
		}
	}
	if h.tooManyThreads() {
		return OutOfMemory, nil
	}
	over, err := h.outputExceeded()
	if over || err != nil {
		return OutputLimit, err
	}
	return Exited, h.checkFreeSpace()
}

// fewThreads is how many threads of a case are counted at every look at a crowded machine.
// Only if a case has more, which is rare, are all counted.
const fewThreads = 64

// tooManyThreads reports whether the case has more processes and threads than it may. Mostly
// the whole machine has fewer, which one small file shows.
func (h *helper) tooManyThreads() bool {
	most, all := h.setup.ProcessesMax, threadsOfAll()
	if h.threadsAtStart == 0 {
		h.threadsAtStart = all // at the first look
	}
	few := min(fewThreads, most)
	if all > 0 && all <= most || h.tree.countThreads(few) <= few {
		return false
	}
	// In a PID namespace pid_max bounds them, or one call ends all. Without a namespace it
	// takes time to count thousands that start more, and they leave little of it. So a case
	// is stopped meanwhile if the machine's number has grown like that.
	stopped := !h.tree.pids && all-h.threadsAtStart > most/2
	if stopped {
		h.tree.signalGroups(syscall.SIGSTOP, map[int]bool{})
	}
	over := h.tree.countThreads(most) > most
	if stopped && !over {
		h.tree.signalGroups(syscall.SIGCONT, map[int]bool{})
	}
	return over
}

// outputExceeded adds up what the case has written so far. Files in home and tmp count while
// it runs, because they take the same room.
func (h *helper) outputExceeded() (bool, error) {
	f := &h.folder
	if h.mounts.anyMounted() {
		return false, nil // names may lead elsewhere now; they do not at the end
	}
	if err := f.watch.read(); err != nil {
		return false, err
	}
	s := usage{bytes: h.stdout.size() + h.stderr.size(), given: f.given}
	if f.watch.needsWalk {
		s.addBelow(f.work, "")
	} else {
		for name := range f.watch.names {
			s.addFile(f.work+"/"+name, false)
		}
	}
	s.given = nil
	if f.watch.spare {
		s.addBelow(f.home, "")
		s.addBelow(f.tmp, "")
	}
	return s.bytes > h.setup.OutputMax || s.files > FilesMax, nil
}

// usage adds up files. Files that cannot be read are left for the end of the case.
type usage struct {
	bytes int64
	files int
	given map[string]*placedFile // given files, which do not count
}

// addFile adds one file: the disk space that it takes if onDisk is set, else its length.
func (s *usage) addFile(path string, onDisk bool) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return
	}
	if onDisk {
		s.bytes += st.Blocks * 512
	} else {
		s.bytes += st.Size
	}
}

// addBelow adds the files below top/dir.
func (s *usage) addBelow(top, dir string) {
	var inner []string
	_ = eachEntry(top+"/"+dir, func(e entry) error {
		name := join(dir, e.name)
		if s.given[name] != nil {
			return nil
		}
		if s.files++; s.files > FilesMax {
			return errTooMany
		}
		if e.dir {
			inner = append(inner, name)
		} else {
			s.addFile(top+"/"+name, s.given == nil)
		}
		return nil
	})
	for _, name := range inner {
		s.addBelow(top, name)
	}
}
