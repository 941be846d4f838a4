package golden

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// names are few, so that records replace one another, and strange.
var drawName = rapid.SampledFrom([]string{"a", "a/b", "a.case/b", "b\xff\n%", " ", "ü", "z\x01"})

func drawContent(t *rapid.T) []byte {
	size := rapid.SampledFrom([]int{0, 1, 2, 100, pieceMax - 1, pieceMax, pieceMax + 1, 3 * pieceMax}).Draw(t, "size")
	content := incompressible(rapid.Byte().Draw(t, "seed"), size)
	if rapid.Bool().Draw(t, "zeros") {
		clear(content)
	}
	return content
}

func drawPart(t *rapid.T, b bag, place outcome.Place, path string) outcome.Part {
	form := outcome.Regular
	if place == outcome.File {
		form = rapid.SampledFrom([]outcome.Form{outcome.Regular, outcome.Symlink, outcome.Gone}).Draw(t, "form")
	}
	if rapid.IntRange(0, 9).Draw(t, "ignored") == 0 {
		return outcome.Part{Key: outcome.Key{Place: place, Path: path}, Form: outcome.Ignored}
	}
	p := outcome.Part{Key: outcome.Key{Place: place, Path: path}, Form: form}
	if form != outcome.Gone && rapid.IntRange(0, 9).Draw(t, "kept") > 0 {
		p = b.part(place, path, form, drawContent(t))
	}
	p.Exec = place == outcome.File && form == outcome.Regular && rapid.Bool().Draw(t, "exec")
	if rapid.IntRange(0, 4).Draw(t, "flaky") > 0 {
		return p
	}
	p.Flaky, p.Seen = true, outcome.Shapes(rapid.IntRange(1, int(outcome.AllShapes)).Draw(t, "seen"))
	for range rapid.IntRange(0, outcome.VariantsMax).Draw(t, "variants") {
		v := b.variant(drawContent(t))
		if rapid.IntRange(0, 4).Draw(t, "variant kept") == 0 {
			v.Digest = outcome.Digest{}
		}
		if place == outcome.File && rapid.Bool().Draw(t, "link") {
			v.Form = outcome.Symlink
		}
		v.Exec = place == outcome.File && v.Form == outcome.Regular && rapid.Bool().Draw(t, "executable")
		p.Variants = append(p.Variants, v)
	}
	return p
}

func drawRecord(t *rapid.T, b bag) Record {
	r := Record{
		Name: drawName.Draw(t, "name"),
		Runs: rapid.IntRange(0, 5).Draw(t, "runs"),
		Cost: outcome.Cost{
			CPU: time.Duration(rapid.Int64().Draw(t, "cpu")), Wall: time.Duration(rapid.Int64().Draw(t, "wall")),
			PeakRSS: rapid.Int64().Draw(t, "rss"),
		},
	}
	r.Outcome.Ending = regress.Ending{Kind: regress.EndingKind(rapid.IntRange(0, 4).Draw(t, "kind")), Code: rapid.IntRange(0, 255).Draw(t, "code")}
	r.Outcome.Others = drawOthers(t, r.Outcome.Ending)
	r.Equal, r.Origin = rapid.IntRange(0, 3).Draw(t, "equal"), rapid.IntRange(0, acceptsDrawn).Draw(t, "origin")
	if rapid.Bool().Draw(t, "source known") {
		r.Source = outcome.Of([]byte(rapid.String().Draw(t, "source")))
	}
	r.Outcome.ByStatus = rapid.Bool().Draw(t, "by status")
	r.Outcome.Parts = []outcome.Part{
		drawPart(t, b, outcome.Stdout, ""), drawPart(t, b, outcome.Stderr, ""),
	}
	files := rapid.SliceOfNDistinct(rapid.StringN(1, 10, 20), 0, 3, rapid.ID[string]).Draw(t, "files")
	slices.Sort(files)
	for _, f := range files {
		r.Outcome.Parts = append(r.Outcome.Parts, drawPart(t, b, outcome.File, f))
	}
	return r
}

// drawOthers returns what may stand beside an ending.
func drawOthers(t *rapid.T, e regress.Ending) (others []regress.Ending) {
	if rapid.IntRange(0, 3).Draw(t, "ending flaky") > 0 {
		return nil
	}
	all := []regress.Ending{{}, {Code: 1}, {Code: 255}, {Kind: regress.Signalled, Code: 11}, {Kind: regress.TimedOut}, {Kind: regress.OutOfMemory}}
	for _, o := range all {
		if o != e && (o.Partial() || !e.Partial()) && rapid.Bool().Draw(t, "other ending") {
			others = append(others, o)
		}
	}
	return others
}

// acceptsDrawn is how many accepts a drawn meta has.
const acceptsDrawn = 3

func drawMeta(t *rapid.T) Meta {
	accepts := make([]Accept, acceptsDrawn)
	for i := range accepts {
		accepts[i] = Accept{
			Run: fmt.Sprint(i), Author: rapid.String().Draw(t, "author"), At: time.Unix(int64(i), 0).UTC(), Reason: "r\xff",
			Command: []Command{{Args: []string{"cc2"}}}, Machine: "m", MusterVersion: "2",
			Flags: map[string]string{"--timeout": "1s"},
		}
	}
	return Meta{
		Accepts:   accepts,
		Reference: &Recorder{Command: []Command{{Args: []string{"cc\xff"}}}, Executable: "/cc", ExecutableDigest: outcome.Digest{1}, Stdin: true, Created: time.Unix(1, 0).UTC(), Moved: time.Unix(2, 0).UTC()},
		Selection: Selection{
			Globs: []string{"*.c", "\xff"}, Filters: rapid.SliceOfN(rapid.String(), 1, 2).Draw(t, "filters"),
			Partition: "hash:1/2", Sample: rapid.IntRange(0, 9).Draw(t, "sample"),
		},
		Command: []Command{{Glob: "*.c", Args: []string{"cc", "%s\xff"}}}, Env: []string{"A=\x80"},
		Machine: rapid.String().Draw(t, "machine"), Repeat: rapid.IntRange(0, 3).Draw(t, "repeat"),
		Created: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "created"), 5).UTC(),
		Flags:   map[string]string{"normalize": rapid.String().Draw(t, "rule"), "b\xff": ""},
		Run:     rapid.String().Draw(t, "run"), FromEngine: rapid.Bool().Draw(t, "from engine"),
	}
}

// used returns what of the bag the records need.
func used(records map[string]Record, b bag) bag {
	need := bag{}
	for _, r := range records {
		for p := range WithContent(&r.Outcome) {
			need[p.Digest] = b[p.Digest]
		}
	}
	return need
}

func TestWhatIsPutIsRead(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(dir, "g")
		want := whole{Meta: drawMeta(rt), Records: map[string]Record{}, Contents: bag{}}
		w, err := Create(path, want.Meta)
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Abort(false)
		for range rapid.IntRange(0, 8).Draw(rt, "records") {
			r := drawRecord(rt, want.Contents)
			if err := w.Put(context.Background(), r, want.Contents.open); err != nil {
				rt.Fatal(err)
			}
			want.Records[r.Name] = r
		}
		for n, r := range want.Records {
			if got, ok, err := w.Get(n); err != nil || !ok || !reflect.DeepEqual(got, r) {
				rt.Fatalf("Get %q before Finish: %v %v\n%v\n%v", n, ok, err, got, r)
			}
		}
		if err := w.Finish(); err != nil {
			rt.Fatal(err)
		}
		want.Contents = used(want.Records, want.Contents)
		want = want.sealed()
		same(rt, mustRead(t, path), want)
		if n := blobCount(t, path); n != nonEmpty(want.Contents) {
			rt.Fatalf("%d blobs, want %d", n, nonEmpty(want.Contents))
		}
	})
}

func nonEmpty(b bag) (n int) {
	for _, content := range b {
		if len(content) > 0 {
			n++
		}
	}
	return n
}

func blobCount(t testing.TB, path string) (n int) {
	t.Helper()
	db, err := openDatabase(path, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var strayPieces int
	if err := db.QueryRow("SELECT count(*) FROM blob").Scan(&n); err != nil {
		t.Fatal(err)
	}
	err = db.QueryRow("SELECT count(*) FROM piece WHERE id>>? NOT IN (SELECT id FROM blob)", pieceShift).Scan(&strayPieces)
	if err != nil || strayPieces > 0 {
		t.Fatalf("%d pieces of no blob, %v", strayPieces, err)
	}
	return n
}

// An Update gives the same store as building it with the changed records does:
// same rows, same digest, same contents, nothing left over.
func TestUpdateIsLikeARebuild(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		path, rebuilt := filepath.Join(dir, "a", "g"), filepath.Join(dir, "b", "g")
		mkdirs(t, path, rebuilt)
		state := whole{Meta: drawMeta(rt), Records: map[string]Record{}, Contents: bag{}}
		for range rapid.IntRange(0, 4).Draw(rt, "records") {
			r := drawRecord(rt, state.Contents)
			state.Records[r.Name] = r
		}
		build(t, path, state)
		state = state.sealed()
		before := digestOf(t, path)
		err := Update(path, func(tx *Tx) error {
			if tx.Digest() != before {
				return fmt.Errorf("tx has digest %s", tx.Digest())
			}
			for range rapid.IntRange(0, 6).Draw(rt, "changes") {
				if err := change(rt, tx, &state); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		build(t, rebuilt, state)
		state = state.sealed()
		state.Contents = used(state.Records, state.Contents)
		same(rt, mustRead(t, path), state)
		if digestOf(t, path) != digestOf(t, rebuilt) || blobCount(t, path) != blobCount(t, rebuilt) {
			rt.Fatal("the rebuilt store is another")
		}
	})
}

// change does one random thing to both.
func change(rt *rapid.T, tx *Tx, state *whole) error {
	switch rapid.IntRange(0, 3).Draw(rt, "what") {
	case 0:
		n := drawName.Draw(rt, "deleted")
		delete(state.Records, n)
		return tx.Delete(n)
	case 1:
		// Accepts are only ever added, and records refer to those that are there.
		m := drawMeta(rt)
		m.Accepts = append(slices.Clone(state.Meta.Accepts), m.Accepts...)
		state.Meta = m
		return tx.SetMeta(m)
	case 2:
		// Content that turns out wrong leaves no trace.
		b := bag{}
		p := b.part(outcome.File, "f", outcome.Regular, incompressible(1, 2*pieceMax))
		p.Digest[0]++
		b[p.Digest] = incompressible(1, 2*pieceMax)
		bad := Record{Name: "bad", Outcome: outcome.Outcome{Parts: []outcome.Part{p}}}
		if err := tx.Put(bad, b.open); err == nil {
			return io.ErrUnexpectedEOF
		}
	default:
		r := drawRecord(rt, state.Contents)
		r.Origin = min(r.Origin, len(state.Meta.Accepts))
		state.Records[r.Name] = r
		if err := tx.Put(r, state.Contents.open); err != nil {
			return err
		}
	}
	for n := range maps.Keys(state.Records) {
		got, ok, err := tx.Get(n)
		if err != nil || !ok || !reflect.DeepEqual(got, state.Records[n]) {
			return fmt.Errorf("%q in the transaction: %v %v %w", n, got, ok, err)
		}
	}
	return nil
}
