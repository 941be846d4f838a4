package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// install creates programs that can be found but not run.
func install(t *testing.T, bin string, programs ...string) {
	t.Helper()
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindPrograms(t *testing.T) {
	// The path of the test's folder must have no digit, which would look like the version.
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	folders := []string{"none/*", "versions/*/bin"}

	_, err := findPrograms(folders)
	var none *Missing
	if !errors.As(err, &none) || none.Install == "" {
		t.Errorf("without a server: %v", err)
	}
	install(t, "versions/9/bin", "initdb", "postgres")
	install(t, "versions/15/bin", "initdb", "postgres")
	install(t, "versions/16/bin", "initdb") // initdb alone, as a client package may leave it
	if bin, err := findPrograms(folders); bin != "versions/15/bin" || err != nil {
		t.Errorf("found %s, %v, want the newest complete version", bin, err)
	}
}

func TestPathFirst(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "initdb", "postgres")
	t.Setenv("PATH", dir)
	if bin, err := findPrograms(folders); bin != dir || err != nil {
		t.Errorf("found %s, %v, want %s", bin, err, dir)
	}
}
