package golden

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// using returns the cases that use the content at an offset of the file, which holds it as it is.
func (w whole) using(file []byte, at int) (names []string, known bool) {
	for d, content := range w.Contents {
		start := bytes.Index(file, content)
		if len(content) < 30 || start < 0 || at < start || at >= start+len(content) {
			continue
		}
		for n, r := range w.Records {
			if slices.ContainsFunc(r.Outcome.Parts, func(p outcome.Part) bool { return p.Digest == d }) {
				names = append(names, n)
			}
		}
		slices.Sort(names)
		return names, true
	}
	return nil, false
}

// Whichever byte is damaged, and wherever the file ends, a golden gives the same answers or an error of class Input. A
// check reports each damage that a reader can meet. A repair keeps nothing wrong, names what it drops, and drops no
// case whose bytes are whole.
func TestAnyDamage(t *testing.T) {
	want := little()
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, want)
	smallPages(t, path)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	var offsets []int
	for at := 0; at < len(file); at += strideOf(1, 23, 307) {
		offsets = append(offsets, at)
	}
	for _, content := range want.Contents { // a byte of each that the file holds as it is
		if at := bytes.Index(file, content); len(content) >= 30 && at > 0 {
			offsets = append(offsets, at+len(content)/2)
		}
	}
	for _, at := range offsets {
		for _, mask := range []byte{3, 0x80, 0xff} {
			damaged := bytes.Clone(file)
			damaged[at] ^= mask
			counts[damage(t, path, damaged, want, fmt.Sprintf("byte %d ^ %#x", at, mask))]++
			if names, known := want.using(file, at); known && !t.Failed() {
				checkDropped(t, path, damaged, names)
			}
		}
		if result := damage(t, path, file[:at], want, fmt.Sprintf("cut to %d bytes", at)); result != "refused" {
			t.Errorf("cut to %d bytes: %s", at, result)
		}
	}
	t.Log(counts)
	if counts["repaired"] == 0 || counts["refused"] == 0 || counts["unused"] == 0 {
		t.Error("a result was not seen")
	}
}

// damage reads, checks and repairs a damaged golden, and returns the result of the repair.
func damage(t *testing.T, path string, damaged []byte, want whole, what string) string {
	t.Helper()
	if err := os.WriteFile(path, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := read(path)
	switch {
	case err != nil && regress.ClassOf(err) != regress.Input:
		t.Errorf("%s: class %d: %v", what, regress.ClassOf(err), err)
	case err == nil && !reflect.DeepEqual(got, want):
		t.Errorf("%s: a wrong answer", what)
	}
	alone(t, path)
	isRead := err == nil
	if s, err := Open(path); err == nil {
		found, err := s.Check(t.Context())
		if s.Close(); err != nil || found.Whole() && !isRead {
			t.Errorf("%s: the check found %+v, %v", what, found, err)
		}
	}
	found, err := Repair(t.Context(), path)
	if err != nil {
		wantClass(t, err, regress.Input)
		if isRead {
			t.Errorf("%s: it is read, and not repaired: %v", what, err)
		}
		return "refused"
	}
	if got, err = read(path); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	subset(t, got, want, what)
	if len(got.Records)+len(found.Damaged) != len(want.Records) && len(found.Lists) == 0 {
		t.Errorf("%s: cases were lost without a word", what)
	}
	os.Remove(path + DamagedSuffix)
	alone(t, path)
	if found.Whole() {
		return "unused"
	}
	return "repaired"
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

// checkDropped fails unless a repair drops exactly the named cases.
func checkDropped(t *testing.T, path string, damaged []byte, names []string) {
	t.Helper()
	if err := os.WriteFile(path, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := Repair(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var dropped []string
	for _, d := range found.Damaged {
		dropped = append(dropped, d.Name)
	}
	if !slices.Equal(dropped, names) {
		t.Errorf("dropped %q, want %q: %v", dropped, names, found.Lists)
	}
	kept, err := os.ReadFile(path + DamagedSuffix)
	if err != nil || !bytes.Equal(kept, damaged) {
		t.Errorf("the damaged file is not kept: %v", err)
	}
	os.Remove(path + DamagedSuffix)
}

// Damage of whole rows is found, and costs the cases that it concerns.
func TestRepair(t *testing.T) {
	contents := []string{"dir/case1.c", "dir/case2.c", "long"}
	for sql, dropped := range map[string][]string{
		"UPDATE golden SET digest=zeroblob(32)":                         nil,
		"UPDATE outcome SET record=x'0200' WHERE name=x'6c6f6e67'":      {"long"},
		"UPDATE outcome SET digest=zeroblob(32) WHERE name=x'6c6f6e67'": {"long"},
		"UPDATE outcome SET digest=x'' WHERE name=x'6c6f6e67'":          {"long"},
		"UPDATE outcome SET name=x'6c6f6e68' WHERE name=x'6c6f6e67'":    {"lonh"},
		"DELETE FROM piece":                            contents,
		"DELETE FROM blob":                             contents,
		"UPDATE blob SET id=1":                         contents,
		"UPDATE blob SET size=size+1":                  contents,
		"UPDATE piece SET codec=7":                     contents,
		"UPDATE piece SET codec=1-codec":               contents,
		"UPDATE piece SET data=zeroblob(length(data))": contents,
		"UPDATE piece SET data=data||x'00'":            contents,
		"DELETE FROM piece WHERE id&255=1":             {"long"},
		"UPDATE shared SET digest=zeroblob(32)":        nil,
		"UPDATE shared SET digest=x'00'":               nil,
		"DELETE FROM shared":                           nil,
		"UPDATE outcome SET record=substr(record,1,6)||x'11'||substr(record,8) WHERE name=x'6c6f6e67'": {"long"},
	} {
		path := filepath.Join(t.TempDir(), "g")
		want := little()
		build(t, path, want)
		file, err := os.ReadFile(path)
		if err == nil {
			err = statement(sql)(file, path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); regress.ClassOf(err) != regress.Input {
			t.Errorf("%s: %v", sql, err)
		}
		if file, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		checkDropped(t, path, file, dropped)
		got, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		if want = want.without(dropped...); slices.Contains(dropped, "lonh") {
			want = want.without("long")
		}
		if strings.Contains(sql, "shared") {
			want.Shared = nil
		}
		same(t, got, want)
		if t.Failed() {
			t.Fatal(sql)
		}
	}
}

// Without its meta or tables, a golden is refused, and stays. So is a second repair, while the first damaged file is
// there.
func TestRepairRefuses(t *testing.T) {
	dir := t.TempDir()
	path, model := filepath.Join(dir, "a", "g"), filepath.Join(dir, "b", "g")
	mkdirs(t, path, model)
	build(t, model, little())
	for name, damage := range map[string]func([]byte, string) error{
		"the meta":    statement("UPDATE golden SET meta=replace(meta, x'6d', x'6e')"),
		"the schema":  statement("ALTER TABLE piece ADD COLUMN more"),
		"its version": patched(headerUserVersion, []byte{0, 0, 0, 9}),
		"its end":     func(b []byte, path string) error { return os.WriteFile(path, b[:len(b)-pageBytes], 0o644) },
		"a second": func(b []byte, path string) error {
			if err := statement("DELETE FROM blob")(b, path); err != nil {
				return err
			}
			return os.WriteFile(path+DamagedSuffix, nil, 0o644)
		},
	} {
		b, err := os.ReadFile(model)
		if err == nil {
			err = damage(b, path)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := content(t, filepath.Dir(path))
		_, err = Repair(t.Context(), path)
		wantClass(t, err, regress.Input)
		if after := content(t, filepath.Dir(path)); !reflect.DeepEqual(before, after) {
			t.Errorf("%s: something was changed", name)
		}
		os.Remove(path + DamagedSuffix)
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
	if found, err := Repair(t.Context(), path); err != nil || len(found.Lists) == 0 || found.Cases < 150 || found.Cases == 300 {
		t.Errorf("%+v %v", found, err)
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

// An interrupt or an error of the machine is not damage: no case is dropped.
func TestOnlyDamageIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, little())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Repair(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	same(t, mustRead(t, path), little())
	db, err := openDatabase(filepath.Join(t.TempDir(), "none"), readWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := formatOf(t.Context(), db, "none"); err == nil || isDamage("none", err) || !isDamage("none", errors.New("damaged")) {
		t.Error(err)
	}
}

// A repair keeps the origins, and rolls back the change of a killed process first.
func TestRepairKeepsOrigins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	r := b.simple("a", "1", nil)
	r.Origin = 1
	want := whole{Meta: Meta{Accepts: []Accept{{Run: "R"}}}, Records: map[string]Record{"a": r}, Contents: b}
	build(t, path, want)
	file, err := os.ReadFile(path)
	if err == nil {
		err = statement("UPDATE golden SET digest=x''")(file, path)
	}
	if err == nil {
		_, err = Repair(t.Context(), path)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)

	path = filepath.Join(t.TempDir(), "g")
	state := generation(0)
	halfChanged(t, path, state)
	if found, err := Repair(t.Context(), path); err != nil || !found.Whole() {
		t.Errorf("%+v %v", found, err)
	}
	same(t, mustRead(t, path), state)
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
