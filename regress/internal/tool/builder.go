package tool

import (
	"context"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
	"muster/regress/internal/program"
)

// Bounds of one tool.
const (
	filesMax     = 16_384
	fileBytesMax = 64 << 30
)

// Options describe a tool.
type Options struct {
	Commands []*exec.Command
	Env      []string // K=V: the variables of cases beyond their fixed environment
	Add      []string // globs of further files, from the current folder
	Leave    []string // globs of files that do not count
	Digests  *filedigest.Cache
}

// builder collects the files of a tool.
type builder struct {
	o       Options
	here    string   // the current folder
	path    []string // folders of the PATH that cases have
	library []string // folders of their LD_LIBRARY_PATH
	leave   *glob.Set
	known   map[string]bool // paths of files
	files   []closure.File
	absent  []string // paths in PATH before that of a program, at which nothing is
}

func newBuilder(o Options) (*builder, error) {
	b := &builder{o: o, known: map[string]bool{}}
	var err error
	if b.here, err = os.Getwd(); err != nil {
		return nil, fault.Environmentf("the current folder: %w", err)
	}
	b.path = filepath.SplitList(b.variable("PATH", os.Getenv("PATH")))
	b.library = filepath.SplitList(b.variable("LD_LIBRARY_PATH", ""))
	b.leave, err = b.compileLeave()
	return b, err
}

// variable returns the value that an environment variable has for the cases. usual is its
// value without --env and --pass-env.
func (b *builder) variable(key, usual string) string {
	for _, kv := range b.o.Env {
		if value, ok := strings.CutPrefix(kv, key+"="); ok {
			usual = value
		}
	}
	return usual
}

// addExecutables adds the executables of the commands.
func (b *builder) addExecutables() error {
	for _, c := range b.o.Commands {
		if !c.IsLocal {
			continue
		}
		if err := b.add(c.Path, closure.Executable); err != nil {
			return err
		}
	}
	return nil
}

// addNamedFiles adds the files that the words of the commands name, and the libraries of LD_PRELOAD.
func (b *builder) addNamedFiles() error {
	for _, c := range b.o.Commands {
		if !c.IsLocal {
			continue
		}
		for _, word := range wordsOf(c) {
			if err := b.addWord(word); err != nil {
				return err
			}
		}
	}
	for _, library := range strings.FieldsFunc(b.variable("LD_PRELOAD", ""), func(r rune) bool { return r == ':' || r == ' ' }) {
		if err := b.addNamed(library, closure.Library); err != nil {
			return err
		}
	}
	return nil
}

// addWord adds the file that a word of a command names, and the program that PATH finds for it.
func (b *builder) addWord(word string) error {
	if strings.Contains(word, "$") {
		word = os.Expand(word, func(key string) string { return b.variable(key, "$"+key) })
	}
	for _, piece := range piecesOf(word) {
		if err := b.addNamed(piece, closure.Word); err != nil {
			return err
		}
		if found := b.inPath(piece); found != "" {
			if err := b.add(found, closure.Word); err != nil {
				return err
			}
		}
	}
	return nil
}

// addNamed adds the file at a path, if there is one. A relative path begins in the current
// folder.
func (b *builder) addNamed(text string, as closure.Role) error {
	if !filepath.IsAbs(text) {
		text = filepath.Join(b.here, text)
	}
	if text = filepath.Clean(text); !isFile(os.Stat(text)) {
		return nil
	}
	return b.add(text, as)
}

// inPath returns the program that PATH finds for a word without a slash, or "".
func (b *builder) inPath(word string) string {
	if word == "" || word == "." || word == ".." || strings.Contains(word, "/") {
		return ""
	}
	var before []string
	for _, dir := range b.path {
		if !filepath.IsAbs(dir) {
			continue // relative to the work folder of a case
		}
		file := filepath.Join(dir, word)
		info, err := os.Stat(file)
		if isFile(info, err) && info.Mode()&0o111 != 0 {
			b.absent = append(b.absent, before...)
			return file
		}
		if errors.Is(err, fs.ErrNotExist) {
			before = append(before, file)
		}
	}
	return ""
}

// add adds a file.
func (b *builder) add(path string, as closure.Role) error {
	if b.known[path] || !isReal(path) {
		return nil
	}
	f := closure.File{Path: path, Resolved: resolved(path), Role: as}
	if b.leave.Match(f.Path) || b.leave.Match(f.Resolved) {
		return nil
	}
	if len(b.files) >= filesMax {
		return fault.Inputf("more than %s files belong to the tool, the limit, at %s: leave some out with --no-tool-file", readable.Number(filesMax), name.Print(path))
	}
	digest, err := b.o.Digests.Of(f.Resolved, fileBytesMax)
	switch {
	case errors.Is(err, fs.ErrPermission) && as != closure.Executable:
		return nil // perhaps it may be executed, but not read
	case errors.Is(err, filedigest.ErrTooLarge):
		return fault.Inputf("%s, a file of the tool, is too large to compare: leave it out with --no-tool-file", name.Print(path))
	case err != nil:
		return fault.Environmentf("%s, a file of the tool, cannot be read: %w", name.Print(path), fault.Reason(err))
	}
	f.Digest, f.Stamp, f.IsTrusted = digest.Hash, digest.Stamp, digest.IsTrusted
	b.known[path] = true
	b.files = append(b.files, f)
	return nil
}

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

// addGiven adds the files that --tool-file matches. With @ before it, it matches lists of such files.
func (b *builder) addGiven() error {
	for _, given := range b.o.Add {
		pattern, lists := strings.CutPrefix(given, "@")
		matches := 0
		if _, err := glob.Compile(pattern); err != nil {
			return fault.Inputf("--tool-file: %w", err)
		}
		err := doublestar.GlobWalk(os.DirFS("/"), strings.TrimPrefix(b.fromHere(pattern), "/"), func(file string, e fs.DirEntry) error {
			if file = "/" + file; !isFile(os.Stat(file)) {
				return nil
			}
			if matches++; !lists {
				return b.add(file, closure.Given)
			}
			listed, err := readPrerequisites(file)
			for _, file := range listed {
				if err == nil {
					err = b.addNamed(file, closure.Given) // if it is there
				}
			}
			return err
		})
		if err != nil {
			if regress.ClassOf(err) != regress.None {
				return err
			}
			return fault.Environmentf("--tool-file %s: %w", name.Print(given), fault.Reason(err))
		}
		if lists && matches == 0 {
			return fault.Inputf("--tool-file %s: no such list: make it first, with -MD of the compiler, say", name.Print(given))
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

// isReal reports whether a path is on a real file system. The kernel makes up the files of
// /proc, /sys and /dev: their times change without a write. Files in /dev/shm are real.
func isReal(path string) bool {
	if strings.HasPrefix(path, "/dev/shm/") {
		return true
	}
	for _, folder := range []string{"/proc/", "/sys/", "/dev/"} {
		if strings.HasPrefix(path, folder) {
			return false
		}
	}
	return true
}

// resolved returns a path without symbolic links.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func isFile(info fs.FileInfo, err error) bool { return err == nil && info.Mode().IsRegular() }
