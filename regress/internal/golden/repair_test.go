package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

func mustRepair(t testing.TB, path string) RepairResult {
	t.Helper()
	done, err := Repair(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func droppedNames(done RepairResult) (names []string) {
	for _, d := range done.Dropped {
		names = append(names, d.Name)
	}
	return names
}

// without returns the state without some cases, as a repair leaves it.
func (w whole) without(names ...string) whole {
	records := map[string]Record{}
	for n, r := range w.Records {
		if !slices.Contains(names, n) {
			records[n] = r
		}
	}
	w.Records, w.Contents = records, used(records, w.Contents)
	return w
}

// A golden that is whole is left alone.
func TestRepairOfWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, little())
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if done := mustRepair(t, path); !done.Whole || done.Kept != len(little().Records) || done.Damaged == "" {
		t.Errorf("%+v", done)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("it was written: %v", err)
	}
	same(t, mustRead(t, path), little())
}

// A repair drops damaged cases and keeps all others. The damaged file remains.
func TestRepair(t *testing.T) {
	tests := map[string]struct {
		sql     string
		dropped []string
		shared  bool // is lost
	}{
		"the digest over all rows": {"UPDATE golden SET digest=zeroblob(32)", nil, false},
		"a row's record":           {"UPDATE outcome SET record=x'0200' WHERE name=x'6c6f6e67'", []string{"long"}, false},
		"a row's cost":             {"UPDATE outcome SET record=substr(record,1,6)||x'11'||substr(record,8) WHERE name=x'6c6f6e67'", []string{"long"}, false},
		"a row's digest":           {"UPDATE outcome SET digest=zeroblob(32) WHERE name=x'6c6f6e67'", []string{"long"}, false},
		"a row's name":             {"UPDATE outcome SET name=x'6c6f6e68' WHERE name=x'6c6f6e67'", []string{"lonh"}, false},
		"a row without a digest":   {"UPDATE outcome SET digest=x'' WHERE name=x'6c6f6e67'", []string{"long"}, false},
		"a large content":          {"DELETE FROM piece WHERE id=(SELECT id<<24|1 FROM blob ORDER BY size DESC LIMIT 1)", []string{"long"}, false},
		"a content's size":         {"UPDATE blob SET size=size+1 WHERE size>262144", []string{"long"}, false},
		"all contents":             {"DELETE FROM piece", []string{"dir/case1.c", "dir/case2.c", "long"}, false},
		"the list of contents":     {"DELETE FROM blob", []string{"dir/case1.c", "dir/case2.c", "long"}, false},
		"the shared files":         {"UPDATE shared SET digest=zeroblob(32)", nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "g")
			want := little()
			build(t, path, want)
			model, err := os.ReadFile(path)
			if err == nil {
				err = statement(test.sql)(model, path)
			}
			if err != nil {
				t.Fatal(err)
			}
			damaged, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			done := mustRepair(t, path)
			gone := droppedNames(done)
			if !slices.Equal(gone, test.dropped) || done.Whole || done.SharedLost != test.shared || done.Unreadable != nil {
				t.Errorf("%+v", done)
			}
			if len(gone) > 0 && gone[0] == "lonh" {
				gone = []string{"long"}
			}
			if want = want.without(gone...); test.shared {
				want.Shared = nil
			}
			got, err := read(path)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
			if kept, err := os.ReadFile(done.Damaged); err != nil || !bytes.Equal(kept, damaged) {
				t.Errorf("the damaged file is not kept: %v", err)
			}
			refusesSecond(t, path, damaged)
		})
	}
}

// refusesSecond fails unless a second damage is not repaired while the first file is there.
func refusesSecond(t *testing.T, path string, damaged []byte) {
	t.Helper()
	if err := os.WriteFile(path, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Repair(t.Context(), path)
	wantClass(t, err, regress.Input)
	if err == nil || !strings.Contains(err.Error(), path+damagedSuffix) || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("%v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, damaged) {
		t.Errorf("it was changed: %v", err)
	}
	if err := os.Remove(path + damagedSuffix); err != nil {
		t.Fatal(err)
	}
	alone(t, path)
}

// Without meta or tables, outcomes have no meaning and nothing can be kept.
func TestRepairRefuses(t *testing.T) {
	tests := map[string]func([]byte, string) error{
		"the meta":    statement("UPDATE golden SET meta=replace(meta, x'6d', x'6e')"),
		"the schema":  statement("ALTER TABLE piece ADD COLUMN more"),
		"no tables":   statement("DROP TABLE outcome"),
		"its header":  patched(0, []byte("x")),
		"its version": patched(headerUserVersion, []byte{0, 0, 0, 9}),
		"its end":     func(b []byte, path string) error { return os.WriteFile(path, b[:len(b)-pageBytes], 0o644) },
		"nothing":     func([]byte, string) error { return nil },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, model := filepath.Join(dir, "a", "g"), filepath.Join(dir, "b", "g")
			mkdirs(t, path, model)
			build(t, model, little())
			b, err := os.ReadFile(model)
			if err == nil {
				err = damage(b, path)
			}
			if err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, err = Repair(t.Context(), path)
			wantClass(t, err, regress.Input)
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("it was changed")
			}
			alone(t, path)
		})
	}
}

// A page of the list of cases that cannot be read costs the cases on it, and not those
// after it.
func TestRepairAroundAPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	state := whole{Records: map[string]Record{}, Contents: b}
	for i := range 300 {
		r := b.simple(fmt.Sprintf("case%03d", i), "out", nil)
		state.Records[r.Name] = r
	}
	build(t, path, state)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(file, []byte("case150")) / pageBytes * pageBytes
	file[at] = 0xff // no kind of page
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	done := mustRepair(t, path)
	if done.Unreadable == nil || done.Kept < 150 || done.Kept == 300 {
		t.Errorf("%+v", done)
	}
	got, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"case000", "case299"} {
		if _, ok := got.Records[n]; !ok {
			t.Errorf("%s is not kept", n)
		}
	}
	subset(t, got, state, "a page")
}

// subset fails unless got has nothing that want has not.
func subset(t testing.TB, got, want whole, what string) {
	t.Helper()
	if !reflect.DeepEqual(got.Meta, want.Meta) {
		t.Errorf("%s: meta %+v", what, got.Meta)
	}
	for n, r := range got.Records {
		if !reflect.DeepEqual(r, want.Records[n]) {
			t.Errorf("%s: another record of %s", what, n)
		}
	}
	for d, content := range got.Contents {
		if !bytes.Equal(content, want.Contents[d]) {
			t.Errorf("%s: another content %s", what, d)
		}
	}
}

// Whichever byte is damaged, a repair keeps nothing wrong, and reports the loss.
func TestRepairOfEveryByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	want := little()
	build(t, path, want)
	smallPages(t, path)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stride := strideOf(7, 29, 1009)
	repaired, refused, mute := 0, 0, 0
	for at := 0; at < len(file); at += stride {
		damaged := bytes.Clone(file)
		damaged[at] ^= 0x41
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprint("byte ", at)
		done, err := Repair(t.Context(), path)
		if err != nil {
			wantClass(t, err, regress.Input)
			refused++
			continue
		}
		got, err := read(path)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		subset(t, got, want, what)
		switch {
		case done.Whole:
			mute++
		case len(got.Records) < len(want.Records) && len(done.Dropped) == 0 && done.Unreadable == nil && len(done.Lists) == 0:
			t.Errorf("%s: cases were lost without a word", what)
		default:
			repaired++
		}
		if err := os.Remove(done.Damaged); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		alone(t, path)
	}
	t.Logf("%d repaired, %d refused, %d are of no use to anybody", repaired, refused, mute)
	if repaired == 0 || refused == 0 {
		t.Error("not both were seen")
	}
}

// An interrupt or an error of the machine is not damage: no case is dropped.
func TestOnlyDamageIsDamage(t *testing.T) {
	s := &salvage{path: "g"}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	noted := false
	if err := s.damage(cancelled, errors.New("damaged"), func() { noted = true }); !errors.Is(err, context.Canceled) || noted {
		t.Errorf("interrupted: %v, noted: %t", err, noted)
	}
	db, err := openDatabase(filepath.Join(t.TempDir(), "none"), readOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = formatOf(t.Context(), db, "none")
	if err := s.damage(t.Context(), err, func() { noted = true }); regress.ClassOf(err) != regress.Environment || noted {
		t.Errorf("of the machine: %v, noted: %t", err, noted)
	}
	if err := s.damage(t.Context(), errors.New("damaged"), func() { noted = true }); err != nil || !noted {
		t.Errorf("damage: %v, noted: %t", err, noted)
	}
}

// A repair keeps the origins, and the fields of a later muster in the meta.
func TestRepairKeepsMeta(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	r := b.simple("a", "1", nil)
	r.Origin = 1
	build(t, path, whole{Meta: Meta{Accepts: []Accept{{Run: "R"}}}, Records: map[string]Record{"a": r}, Contents: b})
	err := Update(path, func(tx *Tx) error {
		all := map[string]any{}
		if err := json.Unmarshal(tx.encoded, &all); err != nil {
			return err
		}
		all["later"] = []int{1}
		var err error
		if tx.encoded, err = json.Marshal(all); err != nil {
			return err
		}
		return tx.SetMeta(tx.Meta())
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err == nil {
		err = statement("UPDATE golden SET digest=x''")(file, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	mustRepair(t, path)
	err = Update(path, func(tx *Tx) error {
		if !bytes.Contains(tx.encoded, []byte(`"later":[1]`)) || len(tx.Meta().Accepts) != 1 {
			t.Errorf("meta is %s", tx.encoded)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A golden that a killed Update left half changed is rolled back first.
func TestRepairOfHalfChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	state := generation(0)
	halfChanged(t, path, state)
	if done := mustRepair(t, path); !done.Whole {
		t.Errorf("%+v", done)
	}
	same(t, mustRead(t, path), state)
}

func TestRepairIsInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, little())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Repair(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	same(t, mustRead(t, path), little())
}

// ruined makes a golden at path with one damaged content, and returns its whole cases.
func ruined(path string, from whole) (whole, error) {
	w, err := Create(path, from.Meta)
	if err != nil {
		return whole{}, err
	}
	for _, r := range from.Records {
		if err := w.Put(context.Background(), r, from.Contents.open); err != nil {
			return whole{}, err
		}
	}
	if err := errors.Join(w.PutShared(from.Shared), w.Finish()); err != nil {
		return whole{}, err
	}
	db, err := openDatabase(path, readWrite)
	if err != nil {
		return whole{}, err
	}
	defer db.Close()
	damaged := from.Records["case020"].Outcome.Parts[2].Digest
	if _, err := db.Exec("DELETE FROM blob WHERE digest=?", damaged[:]); err != nil {
		return whole{}, err
	}
	var gone []string
	for n, r := range from.Records {
		if slices.ContainsFunc(r.Outcome.Parts, func(p outcome.Part) bool { return p.Digest == damaged }) {
			gone = append(gone, n)
		}
	}
	return from.without(gone...), nil
}
