package lane

import (
	"bytes"
	"runtime"
	"strconv"
	"syscall"
)

// memory watches the helper's own size, which is the floor of what can be measured of its
// cases. The helper's garbage is not collected below 64 MiB (the parent sees to that). One
// collection makes threads and tables that take more room than ten thousand cases leave. A
// helper that has grown is replaced long before. Only one case with very many files gets that
// far.
type memory struct {
	limit int64 // KiB: a helper with more private memory has grown too much
	floor int64 // KiB: the highest peak so far
	cases int
	buf   [4096]byte // for files that are read
}

// shedStartup gives back the memory that the start of the program took. It returns the peak of
// a helper that has run no case.
func (m *memory) shedStartup() int64 {
	runtime.MemProfileRate = 0 // a sample reads tables all over the program
	now := shedMemory(m.buf[:])
	m.floor, m.limit = now.peak, now.private()+warmingMax
	return m.floor
}

const (
	// The first few cases touch all memory that every case touches: more with many headers.
	// The program's text does not count, because a new helper would need it, too. The
	// kernel maps 64 KiB of it around each page in use. Linux 6.18 maps all that its cache
	// has in one piece, perhaps 2 MiB for a page.
	warmCases  = 4    // cases
	warmingMax = 2048 // KiB

	// growthMax bounds a helper's growth after that, in KiB: some 20,000 cases.
	growthMax = 512
)

// measure returns the floor after a case with that number of changed names, and whether the
// helper has grown too much. It takes 25 µs, so it is done seldom once the peak no longer
// moves.
func (m *memory) measure(names int) (floor int64, grown bool) {
	const (
		seldom = 64  // cases
		many   = 100 // names, of some 700 bytes each
	)
	m.cases++
	if m.cases&(m.cases-1) != 0 && m.cases%seldom != 0 && names < many {
		return m.floor, false
	}
	now := readSize(m.buf[:])
	m.floor = max(m.floor, now.peak)
	if m.cases == warmCases && now.private() <= m.limit {
		m.limit = now.private() + growthMax
	}
	return m.floor, now.private() > m.limit
}

// memoryMin is the lowest memory limit that is exact, in bytes. It exceeds the size to which a
// helper may grow, at which a case's peak begins.
const memoryMin = 8 << 20

// peakMax returns the peak, in KiB, that a case may reach under a limit in bytes. A limit
// below memoryMin counts as memoryMin, for every case alike. The helper's peak counts only
// where the helper itself is larger (pages of 64 KiB).
func (m *memory) peakMax(limit, peak int64) int64 {
	// The kernel counts resident pages by CPU and adds them up late. So the peak at which a
	// case begins may exceed the helper's own: by 36 KiB as measured on 2 CPUs, and by 64
	// pages or more in theory.
	const inexact = 1 << 10 // KiB
	if most := max(limit, memoryMin) >> 10; peak <= most {
		return most
	}
	m.floor = max(m.floor, readSize(m.buf[:]).peak) // measure reads it seldom
	return max(limit>>10, memoryMin>>10, m.floor+inexact)
}

// shedMemory gives back resident memory that can be read again. It also resets the peak of
// this process, from which the peaks of its children start. It returns the size after that. No
// step has to succeed, because the floor reports the memory that stays.
func shedMemory(buf []byte) memorySize {
	for _, m := range cleanMappings(buf) {
		const (
			dontNeed   = 4  // MADV_DONTNEED
			noHugePage = 15 // MADV_NOHUGEPAGE
		)
		// Without this advice the kernel maps 2 MiB for a page if its cache has them in one
		// piece. It still maps smaller pieces whole (Linux 6.18), and no call prevents that.
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, m.start, m.end-m.start, noHugePage)
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, m.start, m.end-m.start, dontNeed)
	}
	if fd, err := syscall.Open("/proc/self/clear_refs", syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
		_, _ = syscall.Write(fd, []byte("5")) // reset the peak
		syscall.Close(fd)
	}
	return readSize(buf)
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// cleanMappings lists mappings of files that cannot be written and never were: dropped pages
// come back from the file. The present rights are not enough, because the dynamic linker first
// fills in the tables of a library.
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

// memorySize is the size of this process, in KiB.
type memorySize struct {
	peak int64 // the highest resident size
	file int64 // the resident part that comes from files, and can be read again
}

// private returns the part of the peak that does not come from files.
func (s memorySize) private() int64 { return s.peak - s.file }

// readSize reads the size of this process; 0 = unknown.
func readSize(buf []byte) (s memorySize) {
	_ = eachLine("/proc/self/status", buf, func(line []byte) {
		readKiB(line, "VmHWM:", &s.peak)
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
