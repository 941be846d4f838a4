package main

import (
	"strings"
	"testing"
)

// A line is cut between characters, by their columns.
func TestStatusLineFits(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"57 → 5 bytes", 80, "57 → 5 bytes"},
		{"57 → 5 bytes", 12, "57 → 5 bytes"},
		{"57 → 5 bytes", 4, "57 →"},
		{"57 → 5 bytes", 3, "57 "},
		{"日本語", 5, "日本"},
		{"57", 0, ""},
	} {
		if got := fitting(c.line, c.columns); got != c.want {
			t.Errorf("%d columns of %q: %q, want %q", c.columns, c.line, got, c.want)
		}
	}
}

func TestQuietShowsNoStatus(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var b strings.Builder
		l := newStatusLine(&b, quiet)
		l.last = l.last.Add(-seldom)
		l.show("57 → 5 bytes")
		l.end()
		if shown := b.Len() > 0; shown == quiet {
			t.Errorf("quiet is %v: %q", quiet, b.String())
		}
	}
}
