package local

import (
	"errors"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSweepSpares: a sweep touches no folder that no run of this user made.
func TestSweepSpares(t *testing.T) {
	parent := t.TempDir()
	random := strings.Repeat("a", tokenLength(parent))
	lanes := filepath.Join(parent, basePrefix+random)
	whole := func(dir string) error { return os.WriteFile(filepath.Join(dir, markerName), []byte(marker), 0o600) }
	tests := []struct {
		is, name string
		fill     func(dir string) error
	}{
		{"of the name that lanes had, with a free lock", "muster-st", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600)
		}},
		{"with a marker and a longer name", basePrefix + random + "a", whole},
		{"with a marker and a shorter name", basePrefix + random[1:], whole},
		{"with a marker and another name", basePrefix + "A" + random[1:], whole},
		{"empty, with another name", basePrefix + random + "a", func(string) error { return nil }},
		{"without a marker", basePrefix + random, func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "000"), 0o700)
		}},
		{"with an empty marker", basePrefix + random, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, markerName), nil, 0o600)
		}},
		{"with a short marker", basePrefix + random, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, markerName), []byte(marker[:len(marker)-1]), 0o600)
		}},
		{"with a long marker", basePrefix + random, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, markerName), []byte(marker+"\n"), 0o600)
		}},
		{"with another marker", basePrefix + random, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, markerName), []byte(strings.ToUpper(marker)), 0o600)
		}},
		{"with a link as marker", basePrefix + random, func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "text"), []byte(marker), 0o600), os.Symlink("text", filepath.Join(dir, markerName)))
		}},
		{"with a pipe as marker", basePrefix + random, func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, markerName), 0o600)
		}},
		{"with a folder as marker", basePrefix + random, func(dir string) error {
			return os.Mkdir(filepath.Join(dir, markerName), 0o700)
		}},
	}
	for _, test := range tests {
		t.Run(test.is, func(t *testing.T) {
			dir := filepath.Join(parent, test.name)
			must(t, os.Mkdir(dir, 0o700))
			must(t, test.fill(dir))
			wantSpared(t, parent, dir)
			must(t, os.RemoveAll(dir))
		})
	}
	t.Run("behind a link", func(t *testing.T) {
		dir := t.TempDir()
		must(t, whole(dir))
		must(t, os.Symlink(dir, lanes))
		wantSpared(t, parent, dir)
		must(t, os.Remove(lanes))
	})
	t.Run("of another user", func(t *testing.T) {
		if os.Geteuid() != 0 {
			needed(t, "only root can make a folder of another user")
		}
		must(t, os.Mkdir(lanes, 0o700))
		must(t, whole(lanes))
		must(t, os.Chown(lanes, 65534, 65534))
		wantSpared(t, parent, lanes)
		must(t, os.RemoveAll(lanes))
	})
	t.Run("of a run that lives", func(t *testing.T) {
		b, err := makeBase(parent)
		must(t, err)
		wantSpared(t, parent, b.dir)
		must(t, b.remove())
	})
}

// wantSpared sweeps parent, and fails if the folder dir or a process with a HOME in it is gone.
func wantSpared(t *testing.T, parent, dir string) {
	t.Helper()
	before := listTree(t, dir)
	process := osexec.CommandContext(t.Context(), "cat")
	process.Env = []string{"HOME=" + dir + "/home", "TMPDIR=" + dir + "/tmp"}
	in, err := process.StdinPipe()
	must(t, err)
	must(t, process.Start())
	sweep(parent, func(text string) { t.Error(text) })
	must(t, in.Close())
	if err := process.Wait(); err != nil {
		t.Errorf("a process with its HOME there ended with %v", err)
	}
	if after := listTree(t, dir); after != before {
		t.Errorf("it has %q, and had %q", after, before)
	}
}

// listTree returns the paths and kinds in a folder, as one text.
func listTree(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			list.WriteString(fs.FormatDirEntry(d) + "\n")
		}
		return err
	}))
	return list.String()
}
