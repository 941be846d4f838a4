package lane

import "testing"

// BenchmarkTraits is what the look at the helper's traits adds to every case.
func BenchmarkTraits(b *testing.B) {
	var h heredity
	h.begin()
	for b.Loop() {
		if h.changed() {
			b.Fatal("they changed by themselves")
		}
	}
}
