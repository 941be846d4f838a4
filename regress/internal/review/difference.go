package review

import "muster/regress/internal/cause"

// A Difference is everything in which a case differs.
type Difference struct {
	Case   string // the case's printed name
	Ending string // "exit 0 → exit 1"; empty if both ended alike
	Where  string // the engine's worker and times; empty for a run on this machine
	Parts  []Part
	Why    string // why nothing can be shown, or empty
}

// A Part is one part that differs.
type Part struct {
	Name     string // stdout, stderr, or a file's printed name
	Words    string // "12 bytes → 14 bytes": the only description of a part whose contents cannot be compared
	Old, Now []byte
	// Edits replace Old by Now. Their causes are indexes of items. If there are none, the
	// review computes the difference.
	Edits []cause.Attributed
}
