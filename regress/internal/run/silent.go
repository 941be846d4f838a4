package run

import (
	"fmt"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/name"
)

// warnSilent warns if nearly no case has output: a command that writes elsewhere seems to be identical, whatever it
// does.
func warnSilent(r *Run) {
	const casesMin, percent = 10, 95 // a few cases may well have nothing to say
	cases := len(r.Inputs.Cases)
	if cases < casesMin || 100*r.Ledger.Silent < percent*cases {
		return
	}
	text := fmt.Sprintf("%s of %s have no output, so only their exit status is compared", readable.Number(r.Ledger.Silent), readable.Cases(cases))
	if paths := r.Tool.observer.Written(); len(paths) > 0 {
		text += "; the observed cases opened for writing: " + strings.Join(name.PrintAll(paths), ", ")
	}
	r.Events.Warn(text + "; if the command writes its output elsewhere, let it print the output or write it into the work folder")
}
