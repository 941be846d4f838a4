package golden

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"muster/regress"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spacious makes a golden with unused space at path, and returns its state.
func spacious(t testing.TB, path string) whole {
	t.Helper()
	state := generation(0)
	build(t, path, state)
	err := Update(path, func(tx *Tx) error {
		for n := range state.Records {
			if n > "case009" {
				delete(state.Records, n)
				if err := tx.Delete(n); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	state.Contents = used(state.Records, state.Contents)
	return state
}

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a", "g"), filepath.Join(dir, "b", "link")
	mkdirs(t, path, link)
	state := spacious(t, path)
	digest := digestOf(t, path)
	if err := errors.Join(os.Symlink(path, link), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	was, err := s.Sizes()
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	copyFile(t, path, path+copySuffix) // what a kill left
	before, after, err := Compact(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o640 || info.Size() != after || before != was.File || before-after < was.Unused {
		t.Errorf("%d → %d of which %d were unused, %v, %v", before, after, was.Unused, info.Mode(), err)
	}
	if target, err := os.Readlink(link); err != nil || target != path {
		t.Errorf("the link is no link any more: %v", err)
	}
	same(t, mustRead(t, path), state)
	if digestOf(t, path) != digest {
		t.Error("another digest")
	}
	if s, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	plain := int64(0)
	for _, content := range state.Contents {
		plain += int64(len(content))
	}
	if z, err := s.Sizes(); err != nil || z.Unused != 0 || z.File != after || z.Plain != plain || z.Contents != nonEmpty(state.Contents) || z.Packed == 0 {
		t.Errorf("%+v %v", z, err)
	}
	if err := s.CheckPages(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCompactRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, little())
	l, err := acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Compact(t.Context(), path)
	wantClass(t, err, regress.Input)
	l.release()

	if err := os.WriteFile(path+copySuffix, []byte("notes"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err = Compact(t.Context(), path)
	wantClass(t, err, regress.Input)
	if b, _ := os.ReadFile(path + copySuffix); string(b) != "notes" {
		t.Error("somebody's file is gone")
	}
	if err := os.Remove(path + copySuffix); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err == nil {
		err = statement("UPDATE outcome SET record=x'02'")(file, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Compact(t.Context(), path)
	wantClass(t, err, regress.Input)
	alone(t, path)
}

// A store that is open still reads the file from before.
func TestCompactBesideAReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, little())
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, _, err := Compact(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Get("long"); !ok || err != nil {
		t.Error(ok, err)
	}
}

// A page that no case needs is damaged. Open does not notice it, and CheckPages does.
func TestCheckPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	state := spacious(t, path)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		_, err = file.WriteAt([]byte{0, 0, 0, 1}, 36) // how many pages are unused
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	same(t, mustRead(t, path), state)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	err = s.CheckPages(t.Context())
	wantClass(t, err, regress.Input)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if done := mustRepair(t, path); done.Whole || len(done.Dropped) > 0 || len(done.Lists) == 0 {
		t.Errorf("%+v", done)
	}
	got, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, state)
}

// childCompact compacts the golden at args[0] again and again.
func childCompact(args []string) error {
	for {
		fmt.Println("compacting")
		if _, _, err := Compact(context.Background(), args[0]); err != nil {
			return err
		}
	}
}

// childRepair repairs the golden at args[0], damages it, and so on.
func childRepair(args []string) error {
	for {
		if _, err := ruined(args[0], generation(0)); err != nil {
			return err
		}
		fmt.Println("repairing")
		done, err := Repair(context.Background(), args[0])
		if err != nil {
			return err
		}
		fmt.Println("repaired")
		must(os.Remove(done.Damaged))
	}
}

// However often Compact is killed, the golden is whole, and leftovers beside it do no harm.
func TestKillWhileCompacting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	state := generation(0)
	build(t, path, state)
	for round := range killRounds() {
		c := startChild(t, nil, "compact", path)
		lines := append(c.lines(1+rand.IntN(4)), c.kill()...)
		for _, l := range lines {
			if strings.HasPrefix(l, "error") {
				t.Fatalf("round %d: %s", round, l)
			}
		}
		got, err := read(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		same(t, got, state)
	}
	if _, _, err := Compact(t.Context(), path); err != nil {
		t.Error(err)
	}
	alone(t, path)
}

// However often Repair is killed, the golden is the damaged one or the repaired one.
func TestKillWhileRepairing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	want, err := ruined(path, generation(0))
	if err != nil {
		t.Fatal(err)
	}
	for round := range killRounds() / 2 {
		c := startChild(t, nil, "repair", path)
		lines := append(c.lines(1+rand.IntN(4)), c.kill()...)
		for _, l := range lines {
			if strings.HasPrefix(l, "error") {
				t.Fatalf("round %d: %s", round, l)
			}
		}
		s, err := Open(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if n := s.Len(); n != len(generation(0).Records) && n != len(want.Records) {
			t.Errorf("round %d: %d cases", round, n)
		}
		s.Close()
		if err := os.Remove(path + damagedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if _, err := Repair(t.Context(), path); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		got, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Records) != len(generation(0).Records) {
			same(t, got, want)
		}
		if err := os.Remove(path + damagedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	alone(t, path)
}
