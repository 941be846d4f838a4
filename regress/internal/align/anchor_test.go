package align

import (
	"testing"

	"pgregory.net/rapid"
)

// Anchors ascend on both sides, are of what each side has once, and no row of such is longer.
func TestAnchors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 9)
		old, now := few.Draw(t, "old"), few.Draw(t, "now")
		got := anchors(old, now)
		for i, p := range got {
			if i > 0 && (got[i-1].old >= p.old || got[i-1].now >= p.now) || old[p.old] != now[p.now] || count(old, old[p.old]) != 1 || count(now, old[p.old]) != 1 {
				t.Fatalf("%v of %v and %v", got, old, now)
			}
		}
		if want := longest(old, now, 0, 0); len(got) != want {
			t.Fatalf("%d of %v and %v, want %d", len(got), old, now, want)
		}
	})
}

func count(list []int, n int) (times int) {
	for _, v := range list {
		if v == n {
			times++
		}
	}
	return times
}

// longest tries all rows from two places on.
func longest(old, now []int, i, j int) (most int) {
	for ; i < len(old); i++ {
		for k := j; k < len(now); k++ {
			if old[i] == now[k] && count(old, old[i]) == 1 && count(now, old[i]) == 1 {
				most = max(most, 1+longest(old, now, i+1, k+1))
			}
		}
	}
	return most
}
