//go:build !linux || !(amd64 || arm64) || purego

package observe

// Supported reports whether this build can observe.
const Supported = false

// Observer observes nothing here.
type Observer struct{}

// New returns nil: this build cannot observe.
func New([]string, string, []string, bool) *Observer { return nil }

// Listener returns -1.
func (o *Observer) Listener() int32 { return -1 }

// Serve does nothing.
func (o *Observer) Serve(bool) {}

// End returns an observation that has seen nothing.
func (o *Observer) End() Observation {
	return Observation{Blind: "this build of muster cannot observe"}
}
