package corpus_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"muster/regress/internal/corpus"
	"muster/regress/internal/outcome"
)

// Each entry has a digest of its own: of its content, and another one where the
// same content is executable. What is given is apart from what is a case; context
// is both.
func TestDigestsOfEntries(t *testing.T) {
	c := open(t, corpus.Options{Context: []string{"both"}, Path: write(t, "c.tar", pack(t,
		file{name: "a", body: "A"}, file{name: "run", body: "A", exec: true}, file{name: "HDR_a", body: "H"},
		file{name: "both", body: "B"}, file{name: "d/e", body: ""}, file{name: "l", link: "d"}, file{name: "m", link: "."}))})
	d, err := c.Digests(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"a": "A", "both": "B", "d/e": ""} {
		if d.Case(name) != outcome.Of([]byte(content)) {
			t.Errorf("%s: %v", name, d.Case(name))
		}
	}
	if run := d.Case("run"); run == d.Case("a") || run == (outcome.Digest{}) {
		t.Errorf("run: %v", run)
	}
	for _, none := range []string{"HDR_a", "l", "none", ""} {
		if d.Case(none) != (outcome.Digest{}) {
			t.Errorf("%q has the digest of a case", none)
		}
	}
	shared := d.Shared()
	if names := slices.Sorted(maps.Keys(shared)); !slices.Equal(names, []string{"HDR_a", "both", "l", "m"}) {
		t.Errorf("given are %q", names)
	}
	if shared["HDR_a"] != outcome.Of([]byte("H")) || shared["both"] != d.Case("both") || shared["l"] == shared["m"] {
		t.Errorf("given are %v", shared)
	}
}
