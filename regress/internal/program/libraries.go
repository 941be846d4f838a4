// Package program finds the files that an executable needs to start: interpreters of scripts, and
// loader and libraries of ELF programs.
//
// It must not execute anything, nor read more of a file than its headers.
package program

import (
	"debug/elf"
	"path"
	"path/filepath"
	"strings"
)

// object is a program or library, with the folders that are searched for its libraries.
type object struct {
	path   string // absolute
	needed []string
	// rpath has the RPATH of the object and of its users, searched before LD_LIBRARY_PATH. For
	// glibc it is empty if the object has a RUNPATH.
	rpath   []string
	runpath []string // searched after LD_LIBRARY_PATH
	class   elf.Class
	machine elf.Machine
}

// Libraries is the libraries of one program.
type Libraries struct {
	Paths map[string]string // by the name that a program or library requests
	// Tuned lists libraries for particular processors. The loader may use one of them instead.
	Tuned   []string
	Missing []Missing
}

// Missing is a library that was not found.
type Missing struct{ Library, By string }

// librariesMax bounds the libraries of one program.
const librariesMax = 4096

// Libraries finds the libraries that a program needs, and those that they need in turn.
func (s *Search) Libraries(file string) (Libraries, error) {
	found := Libraries{Paths: map[string]string{filepath.Base(s.loader): s.loader}}
	first, err := s.read(file, nil)
	if err != nil {
		return found, err
	}
	tried := map[string]bool{}
	for queue := []*object{first}; len(queue) > 0 && len(tried) < librariesMax; queue = queue[1:] {
		o := queue[0]
		for _, wanted := range o.needed {
			base := path.Base(wanted)
			if found.Paths[base] != "" || tried[base] || s.musl && inMusl(wanted) {
				continue
			}
			tried[base] = true
			library, err := s.find(o, wanted)
			if err != nil {
				found.Missing = append(found.Missing, Missing{wanted, o.path})
				continue
			}
			found.Paths[base] = library.path
			found.Tuned = append(found.Tuned, s.tuned[wanted]...)
			queue = append(queue, library)
		}
	}
	return found, nil
}

// Interpreter returns the path of a program's loader, or "" for a static program.
func Interpreter(f *elf.File) (string, error) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b := make([]byte, min(p.Filesz, 4096))
		if _, err := p.ReadAt(b, 0); err != nil {
			return "", err
		}
		return strings.TrimRight(string(b), "\x00"), nil
	}
	return "", nil
}

// foldersIn splits the lists of folders in an object. $ORIGIN is the object's own folder.
func foldersIn(file string, lists []string) (list []string) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		real = file
	}
	origin := filepath.Dir(real)
	for _, text := range lists {
		for dir := range strings.SplitSeq(text, ":") {
			dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin, "$LIB", "lib", "${LIB}", "lib").Replace(dir)
			if filepath.IsAbs(dir) { // a relative one depends on the current folder
				list = append(list, filepath.Clean(dir))
			}
		}
	}
	return list
}
