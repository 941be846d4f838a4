// Package tool finds the files of a tool that its command line shows. A run that cannot observe its tool knows
// no others.
//
// Input: the command line and the environment of the cases. Output: a closure. It must not execute anything but the
// loaders of programs, which list their libraries.
package tool

import (
	"context"
	"debug/elf"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
	"muster/regress/internal/program"
	"muster/regress/lane/observe"
)

// Options describe a tool.
type Options struct {
	Commands []*exec.Command
	Env      []string               // K=V: the variables of cases beyond their fixed environment
	Add      []string               // globs of further files, from the current folder
	Leave    func(path string) bool // reports whether a file does not count
	Digests  *filedigest.Cache
}

// Known returns the executables and the files of Add. A bad glob is an error of class Input, others are Environment.
func Known(o Options) (*closure.Closure, error) {
	f := finder{o: o, known: map[string]bool{}}
	f.addExecutables()
	for _, pattern := range o.Add {
		if strings.HasPrefix(pattern, "@") {
			return nil, fault.Inputf("--tool-file %s: lists of files are no longer read: give the files", name.Print(pattern))
		}
		if _, err := glob.Compile(pattern); err != nil {
			return nil, fault.Inputf("--tool-file: %w", err)
		}
		paths, _ := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly()) // the pattern is well-formed
		for _, path := range paths {
			f.add(path, closure.Given)
		}
	}
	known := closure.Restore(context.Background(), f.files, nil, nil, o.Digests)
	o.Digests.Save()
	for _, file := range f.files {
		if file.Role == closure.Executable && known.Digest(file.Path) == known.Digest("") {
			return nil, fault.Environmentf("%s, a file of the tool, cannot be read", name.Print(file.Path))
		}
	}
	return known, nil
}

// Shown returns the executables, what the words of the commands name in the current folder or by PATH, the
// interpreters of scripts, and the libraries of programs. It returns nil if ctx ends.
func Shown(ctx context.Context, o Options) *closure.Closure {
	f := finder{o: o, known: map[string]bool{}}
	f.addExecutables()
	for _, c := range o.Commands {
		words := c.Words[1:]
		if c.Shell {
			words = []string{strings.Join(c.Words, " ")}
		}
		for _, word := range words {
			f.addWord(word)
		}
	}
	for i := 0; i < len(f.files); i++ { // also those that it adds
		f.addNeeds(ctx, f.files[i])
	}
	defer o.Digests.Save()
	return closure.Restore(ctx, f.files, nil, nil, o.Digests)
}

// finder collects the files of a tool.
type finder struct {
	o     Options
	known map[string]bool // paths
	files []closure.File
}

func (f *finder) addExecutables() {
	for _, c := range f.o.Commands {
		if c.IsLocal {
			f.add(c.Path, closure.Executable)
		}
	}
}

// add adds a file, if there is one.
func (f *finder) add(path string, as closure.Role) {
	path, _ = filepath.Abs(path)
	resolved, _ := filepath.EvalSymlinks(path)
	isOut := f.known[path] || f.o.Leave(path) || f.o.Leave(resolved) || observe.IsKernels(path)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !isOut {
		f.known[path] = true
		f.files = append(f.files, closure.File{Path: path, Role: as})
	}
}

// addWord adds the files that a word and its parts name, as in --config=FILE, A:B and a script for a shell.
// It leaves out the files to which such a script only writes.
func (f *finder) addWord(word string) {
	word = regexp.MustCompile(">[>&|]*[ \t]*[^ \t\n;&|()]+").ReplaceAllString(word, "")
	for _, piece := range append([]string{word}, regexp.MustCompile("[ \t\n;&|()<>`'\"=:,@]+").Split(word, -1)...) {
		f.add(piece, closure.Word)
		for _, folder := range f.folders("PATH", os.Getenv("PATH")) {
			found, err := osexec.LookPath(filepath.Join(folder, piece))
			if err == nil && filepath.IsAbs(found) && !strings.Contains(piece, "/") {
				f.add(found, closure.Word)
				break
			}
		}
	}
}

// addNeeds adds the interpreter of a script, or the libraries of a program, with its loader.
func (f *finder) addNeeds(ctx context.Context, file closure.File) {
	words, _ := program.Script(file.Path) // what cannot be read counts as none: the tool itself will fail
	for _, word := range words {
		f.addWord(word)
	}
	e, err := elf.Open(file.Path)
	if err != nil || file.Role == closure.Opened {
		return
	}
	defer e.Close()
	loader, _ := program.Interpreter(e) // "" for a static program
	found, _ := program.Loader{Path: loader, Folders: f.folders("LD_LIBRARY_PATH", "")}.Libraries(ctx, file.Path)
	for _, library := range found.Paths {
		f.add(library, closure.Opened)
	}
}

// folders returns the folders in an environment variable of the cases. usual is its value without Env.
func (f *finder) folders(key, usual string) []string {
	for _, kv := range f.o.Env {
		if value, ok := strings.CutPrefix(kv, key+"="); ok {
			usual = value
		}
	}
	return filepath.SplitList(usual)
}
