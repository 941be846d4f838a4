package golden

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/regress/internal/outcome"
)

const (
	killCases = 40
	killAge   = 6 // cases between two commits of the child
)

// generation returns the state that a child writes: some contents are of
// several pieces, some shared, and all differ from generation to generation.
func generation(g int) whole {
	b := bag{}
	state := whole{Meta: Meta{Repeat: g, Machine: "m"}, Records: map[string]Record{}, Contents: b}
	state.Shared = map[string]outcome.Digest{"HDR_a.h": outcome.Of(nil)}
	for i := range killCases {
		size := 1000 * i
		if i%10 == 0 {
			size = pieceMax * (1 + i/10)
		}
		r := b.simple(fmt.Sprintf("case%03d", i), strconv.Itoa(g), incompressible(byte(i+g), size))
		state.Records[r.Name] = r
	}
	return state
}

// childBuild builds generation 1 at args[0], from where it was left.
func childBuild(args []string) error {
	state := generation(1)
	w, err := Resume(args[0])
	if errors.Is(err, os.ErrNotExist) {
		w, err = Create(args[0], state.Meta)
	}
	if err != nil {
		return err
	}
	fmt.Println("started")
	for i := range killCases {
		name := fmt.Sprintf("case%03d", i)
		if _, found, err := w.Get(name); err != nil {
			return err
		} else if found {
			continue
		}
		if err := w.Put(context.Background(), state.Records[name], state.Contents.open); err != nil {
			return err
		}
		fmt.Println("put", name)
		if i%killAge == 0 {
			if err := w.do(w.commit); err != nil {
				return err
			}
			fmt.Println("committed", name)
		}
	}
	if err := w.PutShared(state.Shared); err != nil {
		return err
	}
	fmt.Println("finishing")
	if err := w.Finish(); err != nil {
		return err
	}
	fmt.Println("finished")
	return nil
}

// However often a build is killed, the old golden stays whole and committed outcomes remain. In the
// end the build equals one that was never killed.
func TestKillWhileBuilding(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	old, want := generation(0), generation(1)
	build(t, path, old)
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	kept := map[string]bool{}
	for round := 0; ; round++ {
		c := startChild(t, nil, "build", path)
		// The first rounds die early. Some later ones may reach Finish.
		lines := c.lines(random.IntN(4 + killCases/4))
		if round >= killRounds() {
			lines = append(lines, c.rest()...)
		} else {
			lines = append(lines, c.kill()...)
		}
		for _, l := range lines {
			if name, ok := strings.CutPrefix(l, "committed "); ok {
				kept[name] = true
			}
			if strings.HasPrefix(l, "error") {
				t.Fatalf("round %d: %s", round, l)
			}
		}
		got, err := read(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		finished := slices.Contains(lines, "finished")
		if finished || slices.Contains(lines, "finishing") && got.Meta.Repeat == 1 {
			same(t, got, want)
		} else {
			same(t, got, old)
			checkKept(t, path, want, kept)
		}
		if finished && round >= killRounds() {
			break
		}
		if got.Meta.Repeat == 1 {
			build(t, path, old)
			clear(kept)
		}
	}
	mustRead(t, path)
}

func killRounds() int {
	if testing.Short() {
		return 8
	}
	return 40
}

// checkKept resumes what a killed child left and leaves it as it was.
func checkKept(t *testing.T, path string, want whole, kept map[string]bool) {
	t.Helper()
	w, err := Resume(path)
	if errors.Is(err, os.ErrNotExist) && len(kept) == 0 {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort(true)
	for name := range want.Records {
		got, found, err := w.Get(name)
		switch {
		case err != nil:
			t.Fatal(err)
		case !found && kept[name]:
			t.Errorf("%s was committed and is gone", name)
		case found && got.Outcome.Digest() != digest(want.Records[name]):
			t.Errorf("%s is another", name)
		}
	}
}

// childUpdate changes the golden at args[0], generation by generation.
func childUpdate(args []string) error {
	for {
		err := Update(args[0], func(tx *Tx) error {
			next := tx.Meta().Repeat + 1
			fmt.Println("began", next)
			state := generation(next)
			for name, r := range state.Records {
				if err := tx.Put(r, state.Contents.open); err != nil {
					return err
				}
				fmt.Println("put", name)
			}
			return tx.SetMeta(state.Meta)
		})
		if err != nil {
			return err
		}
		fmt.Println("done")
	}
}

// However an Update is killed, the golden is whole, either as before or as after, and opens at
// once.
func TestKillWhileUpdating(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, generation(0))
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	last := 0
	for round := range killRounds() {
		c := startChild(t, nil, "update", path)
		lines := append(c.lines(random.IntN(2*killCases)), c.kill()...)
		done := 0
		for _, l := range lines {
			if strings.HasPrefix(l, "error") {
				t.Fatalf("round %d: %s", round, l)
			}
			if l == "done" {
				done++
			}
		}
		got, err := read(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if g := got.Meta.Repeat; g < last+done || g > last+done+1 {
			t.Errorf("round %d: generation %d after %d, of which %d were done", round, g, last, done)
		}
		last = got.Meta.Repeat
		same(t, got, generation(last))
	}
	// A kill before the first write to the file itself leaves a journal that
	// nobody needs to roll back. It goes with the next change.
	if err := Update(path, func(tx *Tx) error { return tx.Delete("case000") }); err != nil {
		t.Error(err)
	}
	alone(t, path)
}

// childHang stops in the middle of an Update that has reached the file.
func childHang(args []string) error {
	return Update(args[0], func(tx *Tx) error {
		b := bag{}
		if err := tx.Put(b.simple("case000", "new", incompressible(9, 40*pieceMax)), b.open); err != nil {
			return err
		}
		for i := 1; i < killCases; i++ {
			if err := tx.Delete(fmt.Sprintf("case%03d", i)); err != nil {
				return err
			}
		}
		fmt.Println("half")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
}

// halfChanged leaves a golden at path that a killed Update has partly written.
func halfChanged(t *testing.T, path string, from whole) {
	t.Helper()
	halfChangedFrom(t, path, func() { build(t, path, from) })
}

// halfChangedFrom is halfChanged with whatever build makes at path.
func halfChangedFrom(t *testing.T, path string, build func()) {
	t.Helper()
	build()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := startChild(t, nil, "hang", path)
	if l := c.lines(1); len(l) != 1 || l[0] != "half" {
		t.Fatalf("the child says %v", l)
	}
	c.kill()
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(journal(path)); err != nil || bytes.Equal(before, after) {
		t.Fatalf("the golden is not half changed: %v", err)
	}
	os.Remove(path + ".lock")
}

func TestHalfChangedIsRolledBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	state := generation(0)
	halfChanged(t, path, state)
	same(t, mustRead(t, path), state)

	halfChanged(t, path, state)
	err := Update(path, func(tx *Tx) error {
		if _, found, err := tx.Get("case001"); err != nil || !found {
			return fmt.Errorf("case001 was not brought back: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	same(t, mustRead(t, path), state)
}

// The journal of the old golden must not change the new one.
func TestFinishOverHalfChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	halfChanged(t, path, generation(0))
	state := whole{Meta: Meta{Machine: "new"}, Records: map[string]Record{}, Contents: bag{}}
	r := state.Contents.simple("only", "1", incompressible(3, 50*pieceMax))
	state.Records[r.Name] = r
	build(t, path, state)
	same(t, mustRead(t, path), state)
}

// Two that open a half-changed golden at once both get it whole.
func TestTwoRollBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	state := generation(0)
	halfChanged(t, path, state)
	errs := make(chan error)
	for range 2 {
		go func() {
			got, err := read(path)
			if err == nil && len(got.Records) != len(state.Records) {
				err = fmt.Errorf("%d records", len(got.Records))
			}
			errs <- err
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	same(t, mustRead(t, path), state)
}

// childCopy compacts or repairs the golden at args[0] again and again.
func childCopy(args []string) error {
	for {
		if args[1] == "compact" {
			fmt.Println("compacting")
			_, _, err := Compact(context.Background(), args[0])
			must(err)
			continue
		}
		_, err := ruined(args[0], generation(0))
		must(err)
		fmt.Println("repairing")
		_, err = Repair(context.Background(), args[0])
		must(err, os.Remove(args[0]+DamagedSuffix))
	}
}

// However often Compact or Repair is killed, the golden is that from before or from after, and leftovers beside it
// do no harm.
func TestKillWhileCopying(t *testing.T) {
	for _, do := range []string{"compact", "repair"} {
		path, all := filepath.Join(t.TempDir(), "g"), generation(0)
		build(t, path, all)
		want := all
		if do == "repair" {
			var err error
			if want, err = ruined(path, all); err != nil {
				t.Fatal(err)
			}
		}
		for round := range killRounds() / 2 {
			c := startChild(t, nil, "copy", path, do)
			for _, l := range append(c.lines(1+rand.IntN(4)), c.kill()...) {
				if strings.HasPrefix(l, "error") {
					t.Fatalf("%s %d: %s", do, round, l)
				}
			}
			os.Remove(path + DamagedSuffix)
			if _, err := Repair(t.Context(), path); err != nil {
				t.Fatalf("%s %d: %v", do, round, err)
			}
			got, err := read(path)
			if err != nil {
				t.Fatalf("%s %d: %v", do, round, err)
			}
			if len(got.Records) != len(all.Records) {
				same(t, got, want)
			}
			os.Remove(path + DamagedSuffix)
		}
		if _, _, err := Compact(t.Context(), path); err != nil {
			t.Error(err)
		}
		alone(t, path)
	}
}
