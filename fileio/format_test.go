package fileio_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// Every version opens a folder of the first version.
func TestFirstFormat(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/v1")); err != nil {
		t.Fatal(err)
	}
	s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{})
	for name, text := range map[string]string{"a": "one\n", "Team/main.golden": "two\n", "ä b~": "three\n"} {
		enginetest.CheckContent(t, s, name, []byte(text))
	}
	infos, _, err := s.List(t.Context(), "", "", 10)
	if err != nil || len(infos) != 3 {
		t.Errorf("%+v, %v", infos, err)
	}
}

// Open does not touch a folder that is not a store or belongs to a later version.
func TestOtherFolders(t *testing.T) {
	for want, write := range map[string]func(folder string) error{
		"contains mine": func(folder string) error { return os.WriteFile(filepath.Join(folder, "mine"), nil, 0o600) },
		`contains "muster files 2"`: func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "format"), []byte("muster files 2\n"), 0o600)
		},
		"not a directory": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "3f"), nil, 0o600)
		},
	} {
		folder := t.TempDir()
		if err := write(folder); err != nil {
			t.Fatal(err)
		}
		s, err := fileio.Open(folder, &direct.Engine{}, fileio.Options{})
		if err == nil {
			t.Fatal(s.Close())
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	folder := t.TempDir()
	for _, name := range []string{"lock", "mine"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := fileio.Open(folder, &direct.Engine{}, fileio.Options{}); err == nil {
		t.Error("somebody's folder is a store", s.Close())
	}
	if text, err := os.ReadFile(filepath.Join(folder, "lock")); err != nil || string(text) != "precious" {
		t.Errorf("somebody's lock has %q, %v", text, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := fileio.Open(file, &direct.Engine{}, fileio.Options{}); err == nil {
		t.Error("a file is a folder", s.Close())
	}
	if s, err := fileio.Open(t.TempDir(), &direct.Engine{}, fileio.Options{MemoryMax: 1}); err == nil {
		t.Error("a byte of memory is enough", s.Close())
	}
}

// Open completes an interrupted first start.
func TestInterruptedStart(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"00", "01"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "format~"), []byte("mus"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{})
	enginetest.Put(t, s, "x", []byte("x"))
}

// Open does not follow links planted where the store's own files were.
func TestPlantedFormat(t *testing.T) {
	for _, name := range []string{"format", "format~", "lock"} {
		folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
		const text = "muster files 1\n"
		if err := os.WriteFile(outside, []byte(text+"and more"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		s, err := fileio.Open(folder, &direct.Engine{}, fileio.Options{})
		if err == nil {
			t.Errorf("with a link %s it is a store: %v", name, s.Close())
		} else if strings.Contains(err.Error(), "more") {
			t.Errorf("the error shows the file outside: %v", err)
		}
		if got, err := os.ReadFile(outside); err != nil || string(got) != text+"and more" {
			t.Errorf("with a link %s there is %q outside, %v", name, got, err)
		}
	}
}
