package run

import "testing"

// The name of what differs is the same each time, also where only one identity has it.
func TestFirstDifference(t *testing.T) {
	a := map[string]string{"d": "1", "e": "1"}
	b := map[string]string{"a": "", "d": "1", "e": "2", "b": "1", "c": "1"}
	for range 100 { // the order of a map varies
		if got := FirstDifference(a, b); got != "b" {
			t.Fatalf("%q, want b", got)
		}
		if got := FirstDifference(b, a); got != "b" {
			t.Fatalf("the other way round: %q, want b", got)
		}
	}
	if got := FirstDifference(a, a); got != "" {
		t.Errorf("equal identities differ in %q", got)
	}
}
