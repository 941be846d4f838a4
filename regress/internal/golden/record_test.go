package golden

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/outcome"
)

func TestRecordThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := canonical(drawRecord(t, bag{}))
		if err != nil {
			t.Fatal(err)
		}
		b := encodeRecord(r)
		got, err := decodeRecord(r.Name, b, r.Outcome.Digest())
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%v\n%+v, want\n%+v", err, got, r)
		}
		if _, err := decodeRecord(r.Name+"x", b, r.Outcome.Digest()); err == nil {
			t.Error("a record under another name")
		}
		if _, err := decodeRecord(r.Name, b[:len(b)-1], r.Outcome.Digest()); err == nil {
			t.Error("a record that is cut off")
		}
		if _, err := decodeRecord(r.Name, append(b, 0), r.Outcome.Digest()); err == nil {
			t.Error("a record with something after it")
		}
	})
}

func TestPutSortsParts(t *testing.T) {
	b := bag{}
	r := b.simple("case", "out", nil)
	parts := r.Outcome.Parts
	r.Outcome.Parts = []outcome.Part{parts[2], parts[1], parts[0]}
	got, err := canonical(r)
	if err != nil || !reflect.DeepEqual(got.Outcome.Parts, parts) {
		t.Errorf("%v, %v", got.Outcome.Parts, err)
	}
	if r.Outcome.Parts[0].Key != parts[2].Key {
		t.Error("the caller's parts were sorted")
	}
}

func FuzzRecord(f *testing.F) {
	r := bag{}.simple("case", "out", []byte("x"))
	f.Add(encodeRecord(r))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := decoder{rest: b}
		d.part()
		if _, err := decodeRecord("case", b, r.Outcome.Digest()); err == nil && string(b) != string(encodeRecord(r)) {
			// Costs and runs are not part of the outcome's digest.
			got, _ := decodeRecord("case", b, r.Outcome.Digest())
			if !reflect.DeepEqual(got.Outcome.Parts[0].Key, r.Outcome.Parts[0].Key) {
				t.Errorf("another outcome with the same digest: %+v", got)
			}
		}
	})
}
