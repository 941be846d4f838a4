package run

import "testing"

func TestFirstDifference(t *testing.T) {
	a := map[string]string{"b": "1", "c": "1"}
	for _, c := range []struct {
		b    map[string]string
		want string
	}{
		{map[string]string{"b": "1", "c": "1"}, ""},
		{map[string]string{"b": "2", "c": "2"}, "b"},
		{map[string]string{"c": "1"}, "b"},
		{map[string]string{"b": "1", "c": "1", "a": "1"}, "a"},
		{nil, "b"},
	} {
		if got := FirstDifference(a, c.b); got != c.want {
			t.Errorf("%v and %v differ in %q, want %q", a, c.b, got, c.want)
		}
	}
}
