package test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLaneStays checks that a lane's helper serves many cases. A new helper for each case would
// cost ten times as much, with the same outcomes, so no other test would notice.
func TestLaneStays(t *testing.T) {
	f := newFolder(t)
	const cases = 40
	for i := range cases {
		if err := os.MkdirAll(filepath.Join(f.dir, "src"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.dir, "src", fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The namespace of PIDs belongs to the helper.
	f.muster(0, "record", "src", "--jobs", "1", "--repeat", "1", "--allow-failures", "--", "readlink", "/proc/self/ns/pid")
	f.muster(0, "export", "out")
	said, err := filepath.Glob(filepath.Join(f.dir, "out", "*.case", "stdout"))
	if err != nil || len(said) != cases {
		t.Fatal(len(said), err)
	}
	helpers := map[string]bool{}
	for _, name := range said {
		namespace, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		helpers[string(namespace)] = true
	}
	if len(helpers) > 4 {
		t.Errorf("%d cases had %d helpers", cases, len(helpers))
	}
}
