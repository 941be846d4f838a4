package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"muster/lab/postgres"
)

// A contestant has another working folder, where a relative path would be another file.
func TestDatabaseBelowRelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	d := &databases{parent: "."}
	dsn, err := d.start(t.Context(), sqliteImpl)
	if err != nil || !filepath.IsAbs(dsn) {
		t.Errorf("SQLite's file is %q, %v", dsn, err)
	}
	if err := d.remove(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// The advice to install a server does not help if an installed one does not start.
func TestServerThatDoesNotStart(t *testing.T) {
	if m := missingServer(errors.New("initdb: no room\nhint")); m.Install != "" || m.Text() != "initdb: no room" {
		t.Errorf("%+v", m)
	}
	if m := missingServer(&postgres.Missing{Reason: "no initdb", Install: "something"}); m.Install != "something" {
		t.Errorf("%+v", m)
	}
}
