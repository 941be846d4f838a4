package bundle

import (
	"debug/elf"
	"slices"
	"strings"

	"muster/regress/internal/program"
)

// seeker is a kind of program that needs files which it finds by its own path. Under a bundled
// loader, its own path is the loader's.
type seeker struct {
	mark    string // a text that only such a program contains
	library string // prefix of the library that has the text instead of the program; "" = none has
	what    string // what the program looks for
}

func seekers() []seeker {
	return []seeker{
		{"%{!fsyntax-only", "", "a driver of gcc looks for cc1 and the others beside itself"},
		{"PYTHONHOME", "libpython", "Python looks for its library beside itself"},
		{"PERL5LIB", "libperl", "Perl looks for its modules where it was installed"},
		{"RUBYLIB", "libruby", "Ruby looks for its library beside itself"},
		{"_JAVA_LAUNCHER_DEBUG", "libjli", "Java looks for its machine beside itself"},
	}
}

// partsOf returns what a program looks for, or "".
func partsOf(file string, f *elf.File) string {
	libraries, _ := f.ImportedLibraries() // a static program has no libraries
	for _, s := range seekers() {
		if slices.ContainsFunc(libraries, s.in) {
			return s.what
		}
	}
	for _, s := range seekers() {
		if found, err := program.Holds(file, s.mark); err == nil && found {
			return s.what
		}
	}
	return ""
}

func (s seeker) in(library string) bool {
	return s.library != "" && strings.HasPrefix(library, s.library)
}
