package lane

import "testing"

// BenchmarkTraits measures what reading the helper's traits adds to every case.
func BenchmarkTraits(b *testing.B) {
	var h traitWatch
	h.recordFirst()
	for b.Loop() {
		if h.changed() {
			b.Fatal("they changed by themselves")
		}
	}
}
