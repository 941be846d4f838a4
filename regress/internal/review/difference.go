package review

import "muster/regress/internal/cause"

// A Difference is all in which a case differs, as it was compared.
type Difference struct {
	Case   string // printed
	Ending string // "exit 0 → exit 1"; empty when both ended alike
	Where  string // on an engine: where it ran and how long; empty on this machine
	Parts  []Part
	Why    string // why there is nothing to show, if so
}

// A Part is one part that differs.
type Part struct {
	Name     string // stdout, stderr, a file's printed name
	Words    string // "12 bytes → 14 bytes": all there is to say of a part with nothing to compare
	Old, Now []byte
	// Edits replace Old by Now; their causes are indexes of items. None where they are not
	// known: the difference is then found here.
	Edits []cause.Attributed
}
