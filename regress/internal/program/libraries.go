// Package program finds the files without which an executable file cannot start:
// interpreters of scripts, and loader and libraries of ELF programs.
//
// It must not execute anything, nor read more of a file than its headers.
package program

import (
	"debug/elf"
	"path"
	"path/filepath"
	"strings"
)

// object is a program or library, and where its libraries are looked for.
type object struct {
	path    string // absolute
	needed  []string
	rpath   []string // its own and those of its users, before LD_LIBRARY_PATH; of glibc only of objects without runpath
	runpath []string // after it
	class   elf.Class
	machine elf.Machine
}

// Libraries are the libraries of one program.
type Libraries struct {
	Paths map[string]string // by the name under which a program or library asks for it
	// Tuned are libraries for particular processors, one of which the loader may take instead.
	Tuned   []string
	Missing []Missing
}

// Missing is a library that was not found.
type Missing struct{ Library, By string }

// librariesMax bounds the libraries of one program.
const librariesMax = 4096

// Libraries finds what a program needs, and what its libraries need in turn.
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

// Interpreter returns the path of the loader that a program asks for, "" for a static one.
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

// foldersIn splits the lists of an object, in which $ORIGIN is the object's own folder.
func foldersIn(file string, lists []string) (list []string) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		real = file
	}
	origin := filepath.Dir(real)
	for _, text := range lists {
		for dir := range strings.SplitSeq(text, ":") {
			dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin, "$LIB", "lib", "${LIB}", "lib").Replace(dir)
			if filepath.IsAbs(dir) { // else it would be below whatever folder we are in
				list = append(list, filepath.Clean(dir))
			}
		}
	}
	return list
}
