package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// lacks skips a test for lack of something, or fails it.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("no %s", what)
	}
	t.Skipf("no %s", what)
}

// connections is the number of connections that are open and idle at once, if the system allows
// it.
const connections = 10_000

// Ten thousand idle connections take no threads, and do not delay others.
func TestIdleConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand connections")
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < connections+200 {
		lacks(t, fmt.Sprintf("%d open files, %d are allowed (%v)", connections+200, files.Cur, err))
	}
	s := newServer(t, build(t), "--data", filepath.Join(t.TempDir(), "kept"))
	for range connections {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	put(t, s.url+"/files/one", []byte("still there"), http.StatusNoContent)
	if got := get(t, s.url+"/files/one"); string(got) != "still there" {
		t.Errorf("%q", got)
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.Process.Pid))
	if err != nil || len(tasks) > 32+4+8 {
		t.Errorf("%d threads, %v", len(tasks), err)
	}
}

// A full disk refuses an upload, and keeps the file that it would have replaced.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		lacks(t, "root, for a small disk")
	}
	disk := mountSmallDisk(t)
	s := newServer(t, build(t), "--data", filepath.Join(disk, "kept"))
	old := random(1 << 20)
	put(t, s.url+"/files/one", old, http.StatusNoContent)
	put(t, s.url+"/files/one", random(64<<20), http.StatusInsufficientStorage)
	full := 0
	for i := range 200 { // small files, until there is no room for them either
		if tryPut(fmt.Sprintf("%s/files/fill/%d", s.url, i), random(200_000)) != nil {
			full++
		}
	}
	if full == 0 {
		t.Error("the disk did not fill")
	}
	put(t, s.url+"/files/one", random(200_000), http.StatusInsufficientStorage)
	if got := get(t, s.url+"/files/one"); !bytes.Equal(got, old) {
		t.Errorf("the old file has %d bytes", len(got))
	}
	for i := range 200 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, fmt.Sprintf("%s/files/fill/%d", s.url, i), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
	}
	put(t, s.url+"/files/one", random(2<<20), http.StatusNoContent)
	temps, err := filepath.Glob(filepath.Join(disk, "kept", "*", "~*"))
	if err != nil || len(temps) > 0 {
		t.Errorf("left behind: %v, %v", temps, err)
	}
}

// mountSmallDisk mounts an ext4 of 24 MB in a file, for the duration of the test.
func mountSmallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	image, disk := filepath.Join(dir, "image"), filepath.Join(dir, "disk")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 24<<20), os.Mkdir(disk, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, disk}} {
		if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
			lacks(t, fmt.Sprintf("a small disk: %v: %v\n%s", words, err, out))
		}
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.Background(), "umount", "-l", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	return disk
}

func random(size int) []byte {
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(size)})
	_, _ = r.Read(data) // it never fails
	return data
}

func put(t *testing.T, url string, body []byte, want int) {
	t.Helper()
	var status statusError
	err := tryPut(url, body)
	if errors.As(err, &status) {
		err = nil
	} else if err == nil {
		status = http.StatusNoContent
	}
	if err != nil || int(status) != want {
		t.Errorf("PUT of %d bytes: status %d, not %d, %v", len(body), status, want, err)
	}
}

type statusError int

func (s statusError) Error() string { return http.StatusText(int(s)) }

func tryPut(url string, body []byte) error {
	r, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusNoContent {
		return statusError(got.StatusCode)
	}
	return nil
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	got, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
