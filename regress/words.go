package regress

import (
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/readable"
)

// counted returns "1 case" or "2,000 cases".
func counted(cases int) string { return readable.Count(cases, "case") }

// countedDo returns "1 case waits" or "2,000 cases wait".
func countedDo(cases int, verb string) string {
	if cases == 1 {
		verb += "s"
	}
	return counted(cases) + " " + verb
}

// parseName reads the name of a case as people type it: as it is printed, or
// with what a shell's completion puts before it.
func parseName(printed string) (string, error) {
	raw, err := name.Parse(printed)
	if err == nil {
		raw, err = name.Clean(raw)
	}
	if err != nil {
		return "", fault.Inputf("%w", err)
	}
	return raw, nil
}

// typedName is what to type for a case where it must not be taken for a flag.
func typedName(raw string) string {
	if strings.HasPrefix(raw, "-") {
		return "./" + name.Print(raw)
	}
	return name.Print(raw)
}
