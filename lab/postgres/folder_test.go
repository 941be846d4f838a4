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
	for parent, want := range map[string]string{long: ": name a shorter one", "": ": set TMPDIR to a shorter one"} {
		if _, err := makeFolder(parent, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("below %q: %v, want %q", parent, err, want)
		}
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
	_, err := Start(t.Context(), Options{Dir: closed})
	if err == nil || !strings.Contains(err.Error(), "may not enter "+closed+": name another folder") {
		t.Error(err)
	}
	if left, err := os.ReadDir(closed); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
