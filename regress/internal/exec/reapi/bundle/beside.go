package bundle

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
)

// Programs that are not whole without files which they find by their own path, known by
// what only they have in them. Through a bundled loader their own path is the loader's.
var seekers = [...]struct{ mark, what string }{
	{"%{!fsyntax-only", "a driver of gcc looks for cc1 and the others beside itself"},
	{"PYTHONHOME", "Python looks for its library beside itself"},
	{"PERL5LIB", "Perl looks for its modules where it was installed"},
	{"RUBYLIB", "Ruby looks for its library beside itself"},
	{"_JAVA_LAUNCHER_DEBUG", "Java looks for its machine beside itself"},
}

// partsOf says what a program looks for, or "". A dynamic Python or Ruby has its marks in
// its library, which is named after it.
func partsOf(file string, f *elf.File) string {
	libraries, _ := f.ImportedLibraries()
	for _, l := range libraries {
		for prefix, what := range map[string]string{"libpython": seekers[1].what, "libperl": seekers[2].what, "libruby": seekers[3].what, "libjli": seekers[4].what} {
			if len(l) > len(prefix) && l[:len(prefix)] == prefix {
				return what
			}
		}
	}
	for _, s := range seekers {
		if found, err := holds(file, s.mark); err == nil && found {
			return s.what
		}
	}
	return ""
}

// holds reports whether a file has a text in it.
func holds(file, text string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 256<<10)
	have := 0
	for {
		n, err := f.Read(buf[have:])
		have += n
		if bytes.Contains(buf[:have], []byte(text)) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		keep := min(have, len(text)-1)
		copy(buf, buf[have-keep:have])
		have = keep
	}
}
