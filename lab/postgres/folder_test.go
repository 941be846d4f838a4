package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFolderTooLong(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", socketDirMax))
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	if _, err := makeFolder(nil); err == nil || !strings.HasSuffix(err.Error(), ": set TMPDIR to a shorter one") {
		t.Error(err)
	}
	if left, err := os.ReadDir(long); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// The server's user may not enter a folder that belongs to root.
func TestFolderThatMayNotBeEntered(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the server runs as the owner of the folder
	}
	bin, closed := t.TempDir(), t.TempDir()
	install(t, bin, "initdb", "postgres")
	t.Setenv("PATH", bin)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", closed)
	_, err := Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "may not enter "+closed+": set TMPDIR to another folder") {
		t.Error(err)
	}
	if left, err := os.ReadDir(closed); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
