package test

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// CI runs the short form of these. make long asks for more.
var (
	manyCases = flag.Int("cases", 5000, "how many cases TestManyCases has")
	largeCase = flag.Int64("case-size", 100<<20, "how many bytes the case of TestLargeCase has")
)

// TestManyCases checks that muster's memory grows by little more than its index for each case,
// whether cases are recorded, identical, finished before a run is resumed, or a tenth of them
// changed.
func TestManyCases(t *testing.T) {
	long(t)
	f := newFolder(t)
	f.tar("many.tar", func(w *tar.Writer) error {
		for i := range *manyCases {
			text := fmt.Sprintf("%019d\n", i)
			h := tar.Header{Name: fmt.Sprintf("dir%03d/case%06d", i/1000, i), Mode: 0o644, Size: int64(len(text))}
			if err := w.WriteHeader(&h); err != nil {
				return err
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	})
	// Pages of the program itself are not counted: the kernel maps more or fewer of them, as the
	// file happens to lie in its memory.
	_, program := f.peak(0, "--help")
	most := program + 14<<10 + int64(*manyCases)*700>>10
	tool := []string{"sh", "-c", `case $1$2 in *7new) echo x ;; esac`, "sh", "{in}"}
	for _, run := range []struct {
		status int
		args   []string
		says   string
	}{
		{0, append([]string{"record", "many.tar", "--repeat", "1", "--"}, tool...), "cases recorded"},
		{0, []string{"check"}, "cases identical"},
		{0, []string{"check", "--resume"}, "cases identical"},
		{1, append([]string{"check", "--retries", "0", "--"}, append(tool, "new")...), "cases not identical"},
	} {
		if slices.Contains(run.args, "--resume") {
			f.reopen()
		}
		out, peak := f.peak(run.status, run.args...)
		command := strings.Join(run.args, " ")
		t.Logf("%.20s: %d KiB, and %d for --help", command, peak, program)
		if peak > most || !strings.Contains(string(out), run.says) {
			t.Errorf("%.20s takes %d KiB, more than %d, or says otherwise: %s", command, peak, most, out)
		}
	}
}

// reopen turns the last check into one that was interrupted before its last case. It repeats the lines
// of the journal, so that few cases show whether muster keeps lines.
func (f folder) reopen() {
	f.Helper()
	runs, err := filepath.Glob(filepath.Join(f.dir, ".muster/runs/*/run.json"))
	if err != nil || len(runs) == 0 {
		f.Fatalf("%q, %v", runs, err)
	}
	info := runs[len(runs)-1]
	for path, change := range map[string]func(string) string{
		info: func(text string) string {
			head, content, _ := strings.Cut(text, "\n")
			old := sha256.Sum256([]byte("/run.json\n" + strings.TrimSuffix(content, "\n}\n")))
			content = strings.Replace(content, `"finished": true`, `"finished": false`, 1)
			now := sha256.Sum256([]byte("/run.json\n" + strings.TrimSuffix(content, "\n}\n")))
			return strings.Replace(head, hex.EncodeToString(old[:]), hex.EncodeToString(now[:]), 1) + "\n" + content
		},
		filepath.Join(filepath.Dir(info), "cases.jsonl"): func(text string) string {
			return strings.Repeat(text[:strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1], 40)
		},
	} {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(text))), 0o644)
		}
		if err != nil {
			f.Fatal(err)
		}
	}
}

// TestLargeCase checks that neither a source of any size nor its outputs are in muster's
// memory.
func TestLargeCase(t *testing.T) {
	long(t)
	f := newFolder(t)
	// a hole on the disk, but not for muster
	f.tar("large.tar", func(w *tar.Writer) error {
		return w.WriteHeader(&tar.Header{Name: "zeros", Mode: 0o644, Size: *largeCase})
	})
	if err := os.Truncate(filepath.Join(f.dir, "large.tar"), 512+(*largeCase+511)/512*512+1024); err != nil {
		t.Fatal(err)
	}
	output := fmt.Sprint(*largeCase + 1<<20)
	const most = 64 << 10 // KiB
	for _, args := range [][]string{
		{"record", "large.tar", "--output-max", output, "--", "cp", "{in}", "{out}"},
		{"check"},
		{"run", "zeros", "--keep", "kept", "--output-max", output},
	} {
		_, peak := f.peak(0, args...)
		t.Logf("%s: %d KiB", args[0], peak)
		if peak > most {
			t.Errorf("%s takes %d KiB", args[0], peak)
		}
	}
	if info, err := os.Stat(filepath.Join(f.dir, "kept/work/zeros.out")); err != nil || info.Size() != *largeCase {
		t.Errorf("%v, %v", info, err)
	}
}

// tar writes an archive that fill fills. It writes no end mark if fill leaves an entry without
// content.
func (f folder) tar(name string, fill func(*tar.Writer) error) {
	f.Helper()
	to, err := os.Create(filepath.Join(f.dir, name))
	if err != nil {
		f.Fatal(err)
	}
	defer to.Close()
	b := bufio.NewWriter(to)
	w := tar.NewWriter(b)
	if err := fill(w); err != nil {
		f.Fatal(err)
	}
	_ = w.Close() // an error if content is missing
	if err := b.Flush(); err != nil {
		f.Fatal(err)
	}
}

// peak runs muster. It returns standard output and the peak memory, in KiB, of muster or of one
// of its lanes' processes.
func (f folder) peak(want int, args ...string) (stdout []byte, kib int64) {
	f.Helper()
	shed()
	got := f.try(args...)
	if got.status != want {
		f.Fatalf("muster %q ended with %d, not %d\n%s%s", args, got.status, want, tail(got.stdout), tail(got.stderr))
	}
	return tail(got.stdout), got.usage.Maxrss
}

// shed makes this process as small as possible, and with it its high-water mark, where a
// child's begins.
func shed() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) // without it the bounds are looser than they look
}
