package golden

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// little returns a state with raw and compressed content, of one piece and of several, and a flaky
// part.
func little() whole {
	b := bag{}
	state := whole{
		Meta:    Meta{Machine: "m", Flags: map[string]string{"stdin": "1"}},
		Records: map[string]Record{}, Contents: b,
		Shared: map[string]outcome.Digest{"HDR_a.h": outcome.Of([]byte("a")), "b": outcome.Of([]byte("b"))},
	}
	for i := range 3 {
		r := b.simple(fmt.Sprintf("dir/case%d.c", i), strings.Repeat("text ", 10*i), incompressible(byte(i), 30*i))
		if i == 2 {
			r.Source, r.Equal = outcome.Of([]byte("source")), 1
			r.Outcome.Others = []regress.Ending{{Kind: regress.Signalled, Code: 11}}
			r.Outcome.Parts[0] = flaky(r.Outcome.Parts[0], outcome.Filled, outcome.Absent)
			r.Outcome.Parts[0].Variants = []outcome.Variant{b.variant([]byte("another"))}
		}
		state.Records[r.Name] = r
	}
	r := Record{Name: "long", Outcome: outcome.Outcome{Parts: []outcome.Part{
		b.part(outcome.File, "zeros", outcome.Regular, make([]byte, pieceMax+1)),
	}}}
	state.Records[r.Name] = r
	return state
}

// wrongOrRight fails unless the golden at path is refused as damaged, or has exactly the wanted
// state.
func wrongOrRight(t *testing.T, path string, want whole, what string) {
	got, err := read(path)
	switch {
	case err != nil && regress.ClassOf(err) != regress.Input:
		t.Errorf("%s: class %d: %v", what, regress.ClassOf(err), err)
	case err == nil && !reflect.DeepEqual(got, want):
		t.Errorf("%s: a wrong answer", what)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%s: %d files beside, %v", what, len(entries)-1, err)
	}
}

// smallPages rewrites the golden at path with pages of 512 bytes, which leaves
// nearly no byte of it unused.
func smallPages(t testing.TB, path string) {
	t.Helper()
	db, err := openDatabase(path, readWrite, "page_size(512)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), "VACUUM"); err != nil {
		t.Fatal(err)
	}
}

// strideOf returns how many bytes apart damage is tried: in make long, in other tests, and in short ones.
func strideOf(long, usual, short int) int {
	switch {
	case os.Getenv("MUSTER_LONG") != "":
		return long
	case testing.Short():
		return short
	}
	return usual
}

func TestEveryByteFlipped(t *testing.T) {
	want := little()
	dir := t.TempDir()
	source := filepath.Join(dir, "source", "g")
	mkdirs(t, source)
	build(t, source, want)
	smallPages(t, source)
	want = mustRead(t, source)
	file, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(file))
	stride := strideOf(1, 5, 307)
	const workers = 2
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			path := filepath.Join(dir, fmt.Sprint(w), "g")
			mkdirs(t, path)
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Error(err)
			}
			for at := w * stride; at < len(file); at += workers * stride {
				flip(t, path, at, file[at], want)
			}
		})
	}
	wg.Wait()
}

// flip changes one byte of the golden at path, in several ways, and restores it.
func flip(t *testing.T, path string, at int, is byte, want whole) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for _, mask := range []byte{3, 0x80, 0xff} {
		if _, err := f.WriteAt([]byte{is ^ mask}, int64(at)); err != nil {
			t.Error(err)
		}
		wrongOrRight(t, path, want, fmt.Sprintf("byte %d ^ %#x", at, mask))
	}
	if _, err := f.WriteAt([]byte{is}, int64(at)); err != nil {
		t.Error(err)
	}
}

func TestCutOff(t *testing.T) {
	want := little()
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, want)
	smallPages(t, path)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stride := strideOf(1, 5, 307)
	for size := 0; size < len(file); size += stride {
		if err := os.WriteFile(path, file[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := read(path)
		if regress.ClassOf(err) != regress.Input {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
		if size%97 > 0 {
			continue
		}
		err = Update(path, func(*Tx) error { return nil })
		if regress.ClassOf(err) != regress.Input {
			t.Errorf("update of what is cut to %d bytes: %v", size, err)
		}
		alone(t, path)
	}
}

func TestForeign(t *testing.T) {
	newer := make([]byte, 4)
	binary.BigEndian.PutUint32(newer, Version+1)
	tests := map[string]struct {
		make func(golden []byte, path string) error
		says string
	}{
		"text":       {func(_ []byte, p string) error { return os.WriteFile(p, make([]byte, 5000), 0o644) }, "not a muster golden"},
		"empty":      {func(_ []byte, p string) error { return os.WriteFile(p, nil, 0o644) }, "cut off"},
		"a folder":   {func(_ []byte, p string) error { return os.MkdirAll(p, 0o755) }, "folder"},
		"not there":  {func([]byte, string) error { return nil }, "record one"},
		"newer":      {patched(headerUserVersion, newer), "format 4"},
		"older":      {patched(headerUserVersion, []byte{0, 0, 0, 1}), "has format 1, which no release of muster wrote: record again"},
		"of nobody":  {patched(headerApplication, newer), "not a muster golden"},
		"in WAL":     {patched(headerVersions, []byte{2, 2}), "rollback-journal"},
		"version 0":  {patched(headerUserVersion, make([]byte, 4)), "format 0"},
		"other SQL":  {statement("CREATE TRIGGER t AFTER INSERT ON blob BEGIN SELECT 1; END"), "tables"},
		"a view":     {statement("DROP TABLE golden; CREATE VIEW golden AS SELECT 1 AS id, x'7b7d' AS meta, x'' AS digest"), "tables"},
		"no meta":    {statement("DELETE FROM golden"), "meta"},
		"one more":   {statement("INSERT INTO outcome VALUES(x'61', zeroblob(32), x'0100')"), "digest"},
		"one less":   {statement("DELETE FROM outcome WHERE name=x'6c6f6e67'"), "digest"},
		"other meta": {statement("UPDATE golden SET meta=x'7b7d'"), "digest"},
		"other list": {statement("UPDATE golden SET shared=x''"), "digest"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, model := filepath.Join(dir, "a", "g"), filepath.Join(dir, "b", "g")
			mkdirs(t, path, model)
			build(t, model, little())
			golden, err := os.ReadFile(model)
			if err != nil {
				t.Fatal(err)
			}
			if err := test.make(golden, path); err != nil {
				t.Fatal(err)
			}
			_, err = Open(path)
			updateErr := Update(path, func(*Tx) error { return nil })
			for _, err := range []error{err, updateErr} {
				wantClass(t, err, regress.Input)
				if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("%v does not say %q of %s", err, test.says, path)
				}
			}
		})
	}
}

// patched returns a maker of a golden with other bytes at an offset.
func patched(at int, with []byte) func([]byte, string) error {
	return func(golden []byte, path string) error {
		copy(golden[at:], with)
		return os.WriteFile(path, golden, 0o644)
	}
}

// statement returns a maker of a golden that a foreign statement changed.
func statement(sql string) func([]byte, string) error {
	return func(golden []byte, path string) error {
		if err := os.WriteFile(path, golden, 0o644); err != nil {
			return err
		}
		db, err := openDatabase(path, readWrite)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.ExecContext(context.Background(), sql)
		return err
	}
}

// Content or shared files that do not match their digest are never returned.
func TestDamagedContent(t *testing.T) {
	for _, sql := range []string{
		"UPDATE piece SET codec=7", "UPDATE piece SET codec=1-codec", "DELETE FROM piece", "DELETE FROM blob",
		"UPDATE blob SET size=size+1", "UPDATE blob SET id=1", "UPDATE piece SET data=zeroblob(length(data))",
		"UPDATE shared SET digest=zeroblob(32)", "DELETE FROM shared", "UPDATE shared SET name=x'61' WHERE name=x'62'",
		"UPDATE shared SET digest=x'00'", "INSERT INTO shared VALUES(x'63', zeroblob(32))",
		"UPDATE piece SET data=data||x'00'", "UPDATE piece SET data=(SELECT data FROM piece WHERE codec=1 ORDER BY id DESC LIMIT 1), codec=1",
	} {
		t.Run(sql, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "g")
			want := little()
			build(t, path, want)
			golden, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := statement(sql)(golden, path); err != nil {
				t.Fatal(err)
			}
			wrongOrRight(t, path, want, sql)
			if _, err := read(path); err == nil {
				t.Error("nothing was found wrong")
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "g")
	want := little()
	build(f, path, want)
	smallPages(f, path)
	golden, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{})
	f.Add(uint32(headerVersions), []byte{2, 2})
	f.Add(uint32(512), golden[:512])
	f.Add(uint32(1100), []byte("\x00\xff"))
	f.Add(uint32(1<<31), []byte{})
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		// A fuzzer gets further by patching a golden than with bytes of its own.
		damaged := append([]byte(nil), golden...)
		if int(at) > len(damaged) {
			damaged = damaged[:int(at)%len(damaged)]
		} else {
			damaged = append(damaged[:at], patch...)
			if len(damaged) < len(golden) {
				damaged = append(damaged, golden[len(damaged):]...)
			}
		}
		path := filepath.Join(t.TempDir(), "g")
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		wrongOrRight(t, path, want, "patched")
	})
}
