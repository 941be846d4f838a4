package probe_test

import (
	"testing"

	"muster/lab/probe"
	"muster/lab/results"
)

// Messages have the length of the bytes that an encoding needs.
func TestMessages(t *testing.T) {
	for impl, lengths := range map[string][2]float64{"protobuf": {63, 4122}, "json": {99, 5511}} {
		for i, size := range []int{38, 4096} {
			for _, q := range []probe.Question{probe.Codec{Impl: impl, Size: size, Ops: 100}, probe.Echo{Impl: impl, Size: size, Connections: 10, Ops: 109}} {
				if got, _ := expect(t, q, 100, results.NsPerOp, results.CPUPerOp).Value(results.Wire); got != lengths[i] {
					t.Errorf("%+v: %v bytes, want %v", q, got, lengths[i])
				}
			}
		}
	}
	for _, q := range []probe.Question{probe.Codec{Impl: "none", Ops: 1}, probe.Echo{Impl: "none", Connections: 1, Ops: 1}} {
		if _, err := try(t, q); err == nil {
			t.Errorf("%+v is accepted", q)
		}
	}
}
