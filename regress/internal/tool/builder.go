package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/closure"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
)

// Bounds of one tool.
const (
	filesMax     = 16_384
	fileBytesMax = 64 << 30
)

// builder collects the files of a tool.
type builder struct {
	o       Options
	here    string   // the current folder
	path    []string // folders of the PATH that cases have
	library []string // folders of their LD_LIBRARY_PATH
	leave   *glob.Set
	known   map[string]bool // paths of files
	files   []closure.File
	absent  []string // as in Identity
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
		return fault.Inputf("more than %s files belong to the tool, the limit, at %s: leave some out by --no-tool-file", readable.Number(filesMax), name.Print(path))
	}
	digest, err := b.o.Digests.Of(f.Resolved, fileBytesMax)
	switch {
	case errors.Is(err, fs.ErrPermission) && as != closure.Executable:
		return nil // perhaps it may be executed, but not read
	case errors.Is(err, filedigest.ErrTooLarge):
		return fault.Inputf("%s, a file of the tool, is too large to compare: leave it out by --no-tool-file", name.Print(path))
	case err != nil:
		return fault.Environmentf("%s, a file of the tool, cannot be read: %w", name.Print(path), fault.Reason(err))
	}
	f.Digest, f.Stamp = digest.Hash, digest.Stamp
	b.known[path] = true
	b.files = append(b.files, f)
	return nil
}
