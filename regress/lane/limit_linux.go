package lane

import "syscall"

// overLimit returns OutOfMemory or OutputLimit when the running case is past
// its limit, else Exited. A file system that is full is an error.
func (h *helper) overLimit() (ending int, err error) {
	if limit := h.setup.MemoryMax; limit > 0 {
		if kib := h.tree.resident() >> 10; kib > h.memory.most(limit, kib) {
			return OutOfMemory, nil
		}
	}
	if h.tooManyThreads() {
		return OutOfMemory, nil
	}
	over, err := h.outputOver()
	if over || err != nil {
		return OutputLimit, err
	}
	return Exited, h.roomLeft()
}

// fewThreads is how many threads of a case are counted at every look at a crowded
// machine. Nearly no case has more, and only of one that has are all counted.
const fewThreads = 64

// tooManyThreads reports whether the case has more processes and threads than it
// may. Mostly the whole machine has not, which one small file tells.
func (h *helper) tooManyThreads() bool {
	most, all := h.setup.ProcessesMax, threadsOfAll()
	if h.machine == 0 {
		h.machine = all // at the first look
	}
	few := min(fewThreads, most)
	if all > 0 && all <= most || h.tree.count(few) <= few {
		return false
	}
	// With a PID namespace pid_max holds, or one call ends all. Without, it takes
	// time to count thousands that keep starting more, and they leave us little: a
	// case during which the machine's number has grown like that stands still
	// meanwhile.
	stopped := !h.tree.pids && all-h.machine > most/2
	if stopped {
		h.tree.signalGroups(syscall.SIGSTOP, map[int]bool{})
	}
	over := h.tree.count(most) > most
	if stopped && !over {
		h.tree.signalGroups(syscall.SIGCONT, map[int]bool{})
	}
	return over
}

// outputOver adds up what the case has written so far. What it holds in home
// and tmp counts while it runs: it takes the same room.
func (h *helper) outputOver() (bool, error) {
	f := &h.folder
	if h.mounts.any() {
		return false, nil // its names may lead elsewhere; at the end they do not
	}
	if err := f.watch.read(); err != nil {
		return false, err
	}
	s := sum{bytes: h.stdout.size() + h.stderr.size(), given: f.given}
	if f.watch.walk {
		s.below(f.work, "")
	} else {
		for name := range f.watch.names {
			s.file(f.work+"/"+name, false)
		}
	}
	s.given = nil
	if f.watch.spare {
		s.below(f.home, "")
		s.below(f.tmp, "")
	}
	return s.bytes > h.setup.OutputMax || s.files > FilesMax, nil
}

// sum adds up files. What cannot be looked at is left for the end of the case.
type sum struct {
	bytes int64
	files int
	given map[string]*placed // these do not count
}

// file adds one file, with the room that it takes, or with its length.
func (s *sum) file(path string, room bool) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return
	}
	if room {
		s.bytes += st.Blocks * 512
	} else {
		s.bytes += st.Size
	}
}

// below adds the files below top/dir.
func (s *sum) below(top, dir string) {
	var inner []string
	_ = each(top+"/"+dir, func(e entry) error {
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
			s.file(top+"/"+name, s.given == nil)
		}
		return nil
	})
	for _, name := range inner {
		s.below(top, name)
	}
}
