package golden

import (
	"context"
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// recordOfV1 is a record as a muster of format 1 had it.
type recordOfV1 struct {
	Record // without Equal, Source and Origin; its outcome is old's
	old    outcomeV1
}

// encodeV1 is the encoder of format 1, as it was.
func (r recordOfV1) encodeV1() []byte {
	b := []byte{recordVersionV1, r.old.flags(), byte(r.old.ending.Kind)}
	b = binary.AppendVarint(b, int64(r.old.ending.Code))
	b = binary.AppendVarint(b, int64(r.Runs))
	b = binary.AppendVarint(b, int64(r.Cost.CPU))
	b = binary.AppendVarint(b, int64(r.Cost.Wall))
	b = binary.AppendVarint(b, r.Cost.PeakRSS)
	b = binary.AppendUvarint(b, uint64(len(r.old.parts)))
	for _, p := range r.old.parts {
		bits := byte(p.Place) | byte(p.Form)<<formShift
		if p.Exec {
			bits |= bitExec
		}
		if p.Flaky {
			bits |= bitFlaky
		}
		if p.Digest != (outcome.Digest{}) {
			bits |= bitDigest
		}
		b = append(b, bits)
		b = binary.AppendUvarint(b, uint64(len(p.Path)))
		b = append(b, p.Path...)
		b = binary.AppendUvarint(b, uint64(p.Size))
		if bits&bitDigest != 0 {
			b = append(b, p.Digest[:]...)
		}
	}
	return b
}

// asV1 returns a record that format 1 can hold: flaky parts have only their mark.
func asV1(r Record) recordOfV1 {
	o := &r.Outcome
	old := outcomeV1{
		ending: o.Ending, endingFlaky: o.AnyExit, byStatus: o.ByStatus,
		cut: len(o.Others) > 0 && !o.Ending.Partial(), parts: slices.Clone(o.Parts),
	}
	for i := range old.parts {
		old.parts[i].Seen, old.parts[i].Variants = 0, nil
	}
	r.Equal, r.Source, r.Origin, r.Outcome = 0, outcome.Digest{}, 0, outcome.Outcome{}
	return recordOfV1{r, old}
}

// today returns how a record of format 1 is read today.
func (r recordOfV1) today() Record {
	now := r.Record
	old := r.old
	old.parts = slices.Clone(old.parts)
	now.Outcome = old.outcome()
	return now
}

// downgrade converts the store at path to format 1, and returns its state then. All its records
// must fit format 1.
func downgrade(t testing.TB, path string, state whole) whole {
	t.Helper()
	ctx := context.Background()
	db, err := openDatabase(path, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	now := whole{Meta: state.Meta, Records: map[string]Record{}}
	now.Meta.TimesVary = true
	err = inTransaction(ctx, conn, func() error {
		d, err := readDescription(ctx, conn, Version)
		for _, statement := range []string{
			"DROP TABLE golden", "DROP TABLE shared", schemaV1[goldenTable], "PRAGMA user_version=1",
		} {
			if err == nil {
				_, err = conn.ExecContext(ctx, statement)
			}
		}
		for n, r := range state.Records {
			old := asV1(r)
			now.Records[n] = old.today()
			digest := old.old.digest()
			if err == nil {
				_, err = conn.ExecContext(ctx, "UPDATE outcome SET digest=?, record=? WHERE name=?", digest[:], old.encodeV1(), []byte(n))
			}
		}
		if err != nil {
			return err
		}
		return sealV1(ctx, conn, d.meta)
	})
	if err != nil {
		t.Fatal(err)
	}
	now.Contents = used(now.Records, state.Contents)
	return now
}

func sealV1(ctx context.Context, conn *sql.Conn, meta []byte) error {
	sum, err := scan(ctx, conn, description{format: 1, meta: meta}, func(row) error { return nil })
	if err == nil {
		_, err = conn.ExecContext(ctx, "INSERT INTO golden(id, meta, digest) VALUES(1, ?, ?)", meta, sum[:])
	}
	return err
}

// Records of format 1 are read as before, and where nothing is flaky the digest of format 1
// is that of today.
func TestRecordsOfV1(t *testing.T) {
	stable := 0
	rapid.Check(t, func(t *rapid.T) {
		r := asV1(drawRecord(t, bag{}))
		want := r.today()
		b := r.encodeV1()
		got, err := decodeRecord(r.Name, b, r.old.digest())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\n%+v, want\n%+v", err, got, want)
		}
		if !want.Outcome.Flaky() {
			stable++
			if want.Outcome.Digest() != r.old.digest() {
				t.Errorf("another digest of %+v", want.Outcome)
			}
		}
		for _, damaged := range [][]byte{b[:len(b)-1], append(slices.Clip(b), 0)} {
			if _, err := decodeRecord(r.Name, damaged, r.old.digest()); err == nil {
				t.Error("a record of another length was read")
			}
		}
	})
	if stable == 0 {
		t.Error("no outcome was without flaky parts")
	}
}

// A flaky ending or part of format 1 covers exit statuses and contents, but no signal, limit or
// empty output.
func TestWhatV1Covers(t *testing.T) {
	b := bag{}
	file, empty := b.part(outcome.File, "file", 0, []byte("x")), b.part(outcome.File, "none", 0, nil)
	old := outcomeV1{endingFlaky: true, parts: []outcome.Part{file, empty, {Key: outcome.Key{Place: outcome.File, Path: "once"}}}}
	for i := range old.parts {
		old.parts[i].Flaky = true
	}
	now := old.outcome()
	for e, want := range map[regress.Ending]bool{
		{}: true, {Code: 3}: true, {Kind: regress.Signalled, Code: 11}: false, {Kind: regress.TimedOut}: false,
	} {
		if now.EndedAs(e) != want {
			t.Errorf("%v is covered: %t", e, !want)
		}
	}
	kept := outcome.AllShapes &^ outcome.ShapesOf(outcome.Absent, outcome.Empty, outcome.EmptyExec, outcome.Removed)
	for i, want := range []outcome.Shapes{kept, kept | outcome.ShapesOf(outcome.Empty), outcome.AllShapes} {
		if got := now.Parts[i].Seen; got != want {
			t.Errorf("%s was seen %v, want %v", now.Parts[i], got.List(), want.List())
		}
	}
	old = outcomeV1{cut: true}
	now = old.outcome()
	for _, kind := range []regress.EndingKind{regress.TimedOut, regress.OutOfMemory, regress.OutputLimit} {
		if !now.EndedAs(regress.Ending{Kind: kind}) {
			t.Errorf("%v may have been what cut a run off", kind)
		}
	}
}

// ofV1 builds a store of format 1 at path and returns what it says.
func ofV1(t testing.TB, path string, state whole) whole {
	t.Helper()
	build(t, path, state)
	return downgrade(t, path, state)
}

// A store of format 1 opens and has the same state before and after an Update. Its digest stays
// until then, so that a run that compared with it recognises it.
func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(dir, "g")
		state := whole{Meta: drawMeta(rt), Records: map[string]Record{}, Contents: bag{}}
		state.Meta.Accepts = nil // what format 1 cannot have
		for range rapid.IntRange(0, 4).Draw(rt, "records") {
			r := drawRecord(rt, state.Contents)
			r.Origin = 0
			state.Records[r.Name] = r
		}
		want := ofV1(t, path, state)
		same(rt, mustRead(t, path), want)
		before := digestOf(t, path)
		err := Update(path, func(tx *Tx) error {
			if tx.Digest() != before {
				rt.Error("the digest of before is another in the change")
			}
			for n, r := range want.Records {
				if got, ok, err := tx.Get(n); err != nil || !ok || !reflect.DeepEqual(got, r) {
					rt.Errorf("%q in the change: %v %v", n, got, err)
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, mustRead(t, path), want)
		if f, old := formatAt(t, path); f != versionTimes || old > 0 {
			rt.Errorf("format %d after a change, with %d records of version 1", f, old)
		}
	})
}

// formatAt returns the format of the store at path, and how many of its records are of
// version 1.
func formatAt(t testing.TB, path string) (format int64, old int) {
	t.Helper()
	db, err := openDatabase(path, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if format, err = formatOf(context.Background(), db, path); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT count(*) FROM outcome WHERE substr(record, 1, 1)=x'01'").Scan(&old); err != nil {
		t.Fatal(err)
	}
	return format, old
}

// A change of a golden of format 1 that is killed leaves format 1.
func TestKillWhileUpgrading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	state := generation(0)
	halfChangedFrom(t, path, func() { state = ofV1(t, path, generation(0)) })
	same(t, mustRead(t, path), state)
	if f, _ := formatAt(t, path); f != 1 {
		t.Errorf("format %d", f)
	}
	fails := os.ErrInvalid
	if err := Update(path, func(*Tx) error { return fails }); err != fails {
		t.Error(err)
	}
	same(t, mustRead(t, path), state)
	if f, _ := formatAt(t, path); f != 1 {
		t.Errorf("format %d after a change that failed", f)
	}
}

// The unfinished store of an older muster is refused with the mend, and stays.
func TestResumeOfV1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, little())
	downgrade(t, path, little())
	if err := os.Rename(path, path+partSuffix); err != nil {
		t.Fatal(err)
	}
	_, err := Resume(path)
	wantClass(t, err, regress.Input)
	if err == nil || !strings.Contains(err.Error(), "without --resume") {
		t.Errorf("%v has no mend", err)
	}
	build(t, path, little())
	mustRead(t, path)
}

// In a store of format 1 nothing is known of sources and shared files.
func TestV1KnowsNoSources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	ofV1(t, path, little())
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if files, err := s.Shared(); err != nil || files != nil || s.Source("long") != (outcome.Digest{}) {
		t.Errorf("%v %v %v", files, err, s.Source("long"))
	}
}
