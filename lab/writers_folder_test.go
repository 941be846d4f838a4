package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"muster/lab/postgres"
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

// Installing a server does not help where one is there and does not start.
func TestServerThatDoesNotStart(t *testing.T) {
	if m := missingServer(errors.New("initdb: no room\nhint")); m.Install != "" || m.Text() != "initdb: no room" {
		t.Errorf("%+v", m)
	}
	if m := missingServer(&postgres.Missing{Reason: "no initdb", Install: "something"}); m.Install != "something" {
		t.Errorf("%+v", m)
	}
}
