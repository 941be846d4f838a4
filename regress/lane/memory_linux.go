package lane

import (
	"bytes"
	"runtime"
	"strconv"
	"syscall"
)

// memory watches over the helper's own size, which is the floor of what can be
// told about its cases. Its garbage is not collected until 64 MiB (the parent turns
// the collector off below that): one collection makes threads and tables that take
// more room than ten thousand cases leave. A helper that has grown is replaced
// instead, long before; only one case with very many files gets that far.
type memory struct {
	limit int64 // KiB: with more of its own a helper has grown too much
	floor int64 // KiB: the largest mark seen
	cases int
	lines [4096]byte // of files that are read, used again
}

// begin gives back what the start of the program took, and returns the mark of
// a helper that has seen no case.
func (m *memory) begin() int64 {
	runtime.MemProfileRate = 0 // a sample reads tables all over the program
	now := shed(m.lines[:])
	m.floor, m.limit = now.mark, now.own()+warmingMax
	return m.floor
}

const (
	// What every case touches shows after the first few, and may be more with many
	// headers. The program's text does not count: a new helper would need it, too,
	// and the kernel maps 64 KiB of it around each page in use, or all that it has in
	// one piece in its cache (Linux 6.18), which may be 2 MiB for a page.
	warm       = 4    // cases
	warmingMax = 2048 // KiB

	// growthMax is how many KiB a helper may grow after that: some 20,000 cases.
	growthMax = 512
)

// tell returns the floor after a case that left so many names, and whether the
// helper has grown too much. To look costs 25 µs, so that is done while the mark
// still moves, and then seldom.
func (m *memory) tell(names int) (floor int64, grown bool) {
	const (
		seldom = 64  // cases
		many   = 100 // names, of some 700 bytes each
	)
	m.cases++
	if m.cases&(m.cases-1) != 0 && m.cases%seldom != 0 && names < many {
		return m.floor, false
	}
	now := readSize(m.lines[:])
	m.floor = max(m.floor, now.mark)
	if m.cases == warm && now.own() <= m.limit {
		m.limit = now.own() + growthMax
	}
	return m.floor, now.own() > m.limit
}

// memoryLeast is the lowest limit of memory that means what it says, in bytes: it
// is more than what a helper may grow to, whose mark a case's begins at.
const memoryLeast = 8 << 20

// most returns the peak, in KiB, that a case may reach under a limit in bytes. A
// lower one than memoryLeast is taken as that, for every case alike. Only where
// the helper itself is larger (pages of 64 KiB) its mark counts.
func (m *memory) most(limit, peak int64) int64 {
	// The kernel counts resident pages by CPU and adds them up late, so the mark
	// that a case is told to have begun at may be above the helper's own: by up to
	// 36 KiB as seen on 2 CPUs, by 64 pages and more as it may.
	const inexact = 1 << 10 // KiB
	if most := max(limit, memoryLeast) >> 10; peak <= most {
		return most
	}
	m.floor = max(m.floor, readSize(m.lines[:]).mark) // it is looked at seldom
	return max(limit>>10, memoryLeast>>10, m.floor+inexact)
}

// shed gives back resident memory that can be read again, and resets the
// high-water mark of this process, from which the peak memory of its children
// starts. It returns what there is then. Every step is best effort: what is left
// is told as the floor.
func shed(buf []byte) size {
	for _, m := range cleanMappings(buf) {
		const (
			dontNeed   = 4  // MADV_DONTNEED
			noHugePage = 15 // MADV_NOHUGEPAGE
		)
		// Else the kernel maps 2 MiB for a page where it has them in one piece in its
		// cache. Smaller pieces it still maps whole (Linux 6.18), and nothing asks it not to.
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, m.start, m.end-m.start, noHugePage)
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, m.start, m.end-m.start, dontNeed)
	}
	if fd, err := syscall.Open("/proc/self/clear_refs", syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
		_, _ = syscall.Write(fd, []byte("5")) // reset the mark
		syscall.Close(fd)
	}
	return readSize(buf)
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// cleanMappings lists what is mapped from files, cannot be written, and never
// was: dropped pages come back from the file. It is not enough that it cannot
// be written now: the dynamic linker fills in the tables of a library first.
func cleanMappings(buf []byte) (list []mapping) {
	var m mapping
	file := false
	_ = eachLine("/proc/self/smaps", buf, func(line []byte) {
		fields := bytes.Fields(line)
		switch {
		case len(fields) >= 5 && !bytes.HasSuffix(fields[0], []byte(":")):
			m, file = parseRange(fields[0]), len(fields) > 5 && fields[5][0] == '/' && fields[1][1] != 'w'
		case file && len(fields) > 1 && string(fields[0]) == "Anonymous:" && string(fields[1]) == "0" && m.end > m.start:
			list = append(list, m)
		}
	})
	return list
}

func parseRange(text []byte) mapping {
	from, to, _ := bytes.Cut(text, []byte("-"))
	start, err1 := strconv.ParseUint(string(from), 16, 64)
	end, err2 := strconv.ParseUint(string(to), 16, 64)
	if err1 != nil || err2 != nil {
		return mapping{}
	}
	return mapping{uintptr(start), uintptr(end)}
}

// size is how large this process is, in KiB.
type size struct {
	mark int64 // the most that was resident at a time
	file int64 // resident, and in files: it can be read again
}

// own is the part of the mark that is this process's alone.
func (s size) own() int64 { return s.mark - s.file }

// readSize reads the size of this process; 0 stands for what cannot be told.
func readSize(buf []byte) (s size) {
	_ = eachLine("/proc/self/status", buf, func(line []byte) {
		readKiB(line, "VmHWM:", &s.mark)
		readKiB(line, "RssFile:", &s.file)
	})
	return s
}

func readKiB(line []byte, key string, kib *int64) {
	if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
		number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		*kib, _ = strconv.ParseInt(string(number), 10, 64)
	}
}
