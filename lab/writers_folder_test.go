package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// A contestant runs in a folder of its own, where a path from here would mean another file.
func TestDatabaseBelowRelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	d := &databases{below: "."}
	dsn, err := d.begin(t.Context(), sqliteImpl)
	if err != nil || !filepath.IsAbs(dsn) {
		t.Errorf("SQLite's file is %q, %v", dsn, err)
	}
	if err := d.end(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
