package logfile_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"muster/files/service/logfile"
)

func TestRotates(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte("of before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const perFile, lines = 3, 3*(logfile.Kept+3) + 2
	l, err := logfile.Open(logfile.Options{File: name, LinesMax: perFile})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		l.Info("x", "number", i)
		l.Debug("not this one")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	last := lines // of the file that is looked at
	for n := 0; n <= logfile.Kept; n++ {
		file := name
		if n > 0 {
			file += fmt.Sprint(".", n)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := perFile
		if n == 0 {
			want = lines % perFile
		}
		if got := strings.Count(string(text), "\n"); got != want || !strings.Contains(string(text), fmt.Sprintf(`"number":%d}`, last-1)) {
			t.Errorf("%s has %d lines, not %d, or not number %d:\n%s", file, got, want, last-1, text)
		}
		last -= want
	}
	if _, err := os.Stat(name + fmt.Sprint(".", logfile.Kept+1)); err == nil {
		t.Error("more files are kept than was said")
	}
}

// A hanging disk blocks no caller. Lost lines are counted.
func TestNeverBlocks(t *testing.T) {
	r, w := io.Pipe()
	l, err := logfile.Open(logfile.Options{Writer: w})
	if err != nil {
		t.Fatal(err)
	}
	const lines = 20_000
	for range lines { // more than may wait; nobody reads
		l.Info("x")
	}
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		text <- string(all)
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	all := <-text
	var lost int
	_, rest, _ := strings.Cut(all, `"lines":`)
	if _, err := fmt.Sscanf(rest, "%d", &lost); err != nil || lost == 0 {
		t.Fatalf("it does not say how many were lost: %v", err)
	}
	if got := strings.Count(all, `"msg":"x"`); got+lost != lines {
		t.Errorf("%d lines and %d lost of %d", got, lost, lines)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrPermission }

func TestSaysThatItCouldNotWrite(t *testing.T) {
	l, err := logfile.Open(logfile.Options{Writer: full{}})
	if err != nil {
		t.Fatal(err)
	}
	l.Info("x")
	if err := l.Close(); err == nil {
		t.Error("no error")
	}
	if _, err := logfile.Open(logfile.Options{File: t.TempDir()}); err == nil {
		t.Error("a folder was opened as a log")
	}
}

// Lines logged after Close are lost without harm.
func TestLogsAfterTheEnd(t *testing.T) {
	var text strings.Builder
	l, err := logfile.Open(logfile.Options{Writer: &text})
	if err != nil {
		t.Fatal(err)
	}
	l.Info("before")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Info("after")
	if !strings.Contains(text.String(), "before") || strings.Contains(text.String(), "after") {
		t.Errorf("%q", text.String())
	}
}

// Pipes and devices such as /dev/null are not renamed.
func TestPutsNoDeviceAside(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	l, err := logfile.Open(logfile.Options{File: name, LinesMax: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.Info("x")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(name); err != nil || info.Mode().IsRegular() {
		t.Errorf("the pipe is %v, %v", info, err)
	}
	if _, err := os.Lstat(name + ".1"); err == nil {
		t.Error("the pipe was put aside")
	}
}

// A link to the log stays: the file that it leads to is renamed.
func TestRotatesBehindLink(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Symlink("store/log", "link"); err != nil {
		t.Fatal(err)
	}
	if _, err := logfile.Open(logfile.Options{File: "link"}); err == nil || !strings.Contains(err.Error(), "link is a link to store/log") {
		t.Errorf("without the folder: %v", err)
	}
	if err := os.Mkdir("store", 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := logfile.Open(logfile.Options{File: "link", LinesMax: 1})
	if err != nil {
		t.Fatal(err)
	}
	l.Info("first")
	l.Info("second")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink("link"); err != nil || to != "store/log" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	for name, want := range map[string]string{"store/log": "second", "store/log.1": "first"} {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
}
