package tool

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
)

// compileLeave compiles the globs of files that do not count. A glob without a slash matches
// the base name, and any other glob the absolute path.
func (b *builder) compileLeave() (*glob.Set, error) {
	var list []string
	for _, pattern := range b.o.Leave {
		list = append(list, b.absolute(pattern))
	}
	set, err := glob.Compile(list...)
	if err != nil {
		return nil, fault.Inputf("--no-tool-file: %w", err)
	}
	return set, nil
}

func (b *builder) absolute(pattern string) string {
	if strings.Contains(pattern, "/") && !path.IsAbs(pattern) {
		return path.Join(b.here, pattern)
	}
	return pattern
}

// addGiven adds the files that --tool-file matches.
func (b *builder) addGiven() error {
	for _, pattern := range b.o.Add {
		if _, err := glob.Compile(pattern); err != nil {
			return fault.Inputf("--tool-file: %w", err)
		}
		err := doublestar.GlobWalk(os.DirFS("/"), strings.TrimPrefix(b.fromHere(pattern), "/"), func(file string, e fs.DirEntry) error {
			if file = "/" + file; !isFile(os.Stat(file)) {
				return nil
			}
			return b.add(file, closure.Given)
		})
		if err != nil {
			if regress.ClassOf(err) != regress.None {
				return err
			}
			return fault.Environmentf("--tool-file %s: %w", name.Print(pattern), fault.Reason(err))
		}
	}
	return nil
}

// fromHere returns a pattern from the root. The name of the current folder may hold characters
// of patterns, so they are escaped.
func (b *builder) fromHere(pattern string) string {
	if path.IsAbs(pattern) {
		return path.Clean(pattern)
	}
	escaped := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(filepath.ToSlash(b.here))
	return path.Join(escaped, pattern)
}
