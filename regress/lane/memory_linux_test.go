package lane

import (
	"os"
	"os/user"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestShed checks that the peak falls, and that dropped pages are still right. With cgo, new
// threads and users go through the tables of the C library.
func TestShed(t *testing.T) {
	m, err := syscall.Mmap(-1, 0, 64<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	must(t, err)
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
	must(t, syscall.Munmap(m))
	buf := make([]byte, 4096)
	before := readSize(buf).peak
	after := shedMemory(buf).peak
	if before < 64<<10 || after <= 0 || after > before-(32<<10) {
		t.Errorf("the mark was %d KiB before and %d after", before, after)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with it
			_, _ = user.LookupId("12345")
			runtime.GC()
		})
	}
	wg.Wait()
}

// TestCleanMappings checks that no page is dropped that was or can be written.
func TestCleanMappings(t *testing.T) {
	list := cleanMappings()
	if len(list) == 0 {
		t.Fatal("not even the program's text is clean")
	}
	maps, err := os.ReadFile("/proc/self/maps")
	must(t, err)
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		r := parseRange([]byte(fields[0]))
		for _, m := range list {
			if m == r && (strings.Contains(fields[1], "w") || len(fields) < 6 || fields[5][0] != '/') {
				t.Errorf("dropped: %s", line)
			}
		}
	}
}

// TestLeastLimit checks that one limit holds for all cases of a helper, however far it has
// grown.
func TestLeastLimit(t *testing.T) {
	for _, m := range []*memory{{}, {floor: 2540, limit: 2540 + warmingMax}, {floor: 3100, limit: 3100 + growthMax, cases: 100}} {
		for limit, want := range map[int64]int64{1: 8 << 10, 4 << 20: 8 << 10, 8 << 20: 8 << 10, 9 << 20: 9 << 10} {
			if got := m.peakMax(limit, want); got != want {
				t.Errorf("a limit of %d bytes is %d KiB, want %d", limit, got, want)
			}
		}
	}
}

// TestTextIsNoGrowth checks that the mapped text of the program does not count as growth, on a disk or in
// a tmpfs. The kernel decides how much it maps, and a new helper would have as much.
func TestTextIsNoGrowth(t *testing.T) {
	const length = 4 << 20
	text, err := os.Executable()
	must(t, err)
	onDisk, err := os.Open(text)
	must(t, err)
	defer onDisk.Close()
	fd, err := unix.MemfdCreate("text", unix.MFD_CLOEXEC)
	must(t, err)
	inMemory := os.NewFile(uintptr(fd), "text")
	defer inMemory.Close()
	must(t, inMemory.Truncate(length))
	for name, f := range map[string]*os.File{"disk": onDisk, "memory": inMemory} {
		var m memory
		m.shedStartup()
		mapped, err := syscall.Mmap(int(f.Fd()), 0, length, syscall.PROT_READ, syscall.MAP_PRIVATE)
		must(t, err)
		sum := byte(0)
		for i := 0; i < length; i += 4096 {
			sum += mapped[i]
		}
		if floor, grown := m.measure(1); grown || floor < length>>10 {
			t.Errorf("%s: with %d KiB of a file mapped the floor is %d KiB, grown %t (%d)", name, length>>10, floor, grown, sum)
		}
		must(t, syscall.Munmap(mapped))
	}
}
