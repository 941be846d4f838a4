package tool

import (
	"context"
	"debug/elf"
	"path"
	"strings"

	"muster/regress/internal/closure"
	"muster/regress/internal/program"
)

// addNeeds adds the files that a file cannot start without: the interpreter of a script, or
// the loader and libraries of a program. Other files need none.
func (b *builder) addNeeds(ctx context.Context, f closure.File) error {
	if f.Role == closure.Library || f.Role == closure.Loader {
		return nil // its program brings what it needs
	}
	words, err := program.Script(f.Resolved)
	if err != nil {
		return nil // it was readable a moment ago: the watch reports a change
	}
	if len(words) > 0 {
		return b.addInterpreter(words)
	}
	e, err := elf.Open(f.Resolved)
	if err != nil {
		return nil // no program
	}
	defer e.Close()
	loader, err := program.Interpreter(e)
	if err != nil || loader == "" {
		return nil // damaged, or static
	}
	return b.addLibraries(ctx, f, loader)
}

// addInterpreter adds the files in a script's first line: the interpreter, and the program
// that env finds. An interpreter may be a script itself. The chain ends because add takes
// each file once.
func (b *builder) addInterpreter(words []string) error {
	if err := b.addNamed(words[0], closure.Interpreter); err != nil {
		return err
	}
	rest := strings.Fields(strings.Join(words[1:], " "))
	for _, word := range rest {
		word = strings.TrimPrefix(word, "-S")
		if path.IsAbs(word) {
			if err := b.addNamed(word, closure.Word); err != nil {
				return err
			}
		}
		if path.Base(words[0]) != "env" {
			continue
		}
		if found := b.inPath(word); found != "" {
			if err := b.add(found, closure.Interpreter); err != nil {
				return err
			}
		}
	}
	return nil
}

// addLibraries adds the loader of a program, and the libraries that the loader finds. A
// missing library is no error here: the tool itself fails without it.
func (b *builder) addLibraries(ctx context.Context, f closure.File, loader string) error {
	if err := b.addNamed(loader, closure.Loader); err != nil {
		return err
	}
	found, err := program.Loader{Path: loader, Folders: b.library}.Libraries(ctx, f.Resolved)
	if err != nil {
		return nil // damaged, or of another machine: it cannot start
	}
	for _, library := range found.Paths {
		if err := b.addNamed(library, closure.Library); err != nil {
			return err
		}
	}
	return nil
}
