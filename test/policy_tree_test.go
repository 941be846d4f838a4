package test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A tree is what the rules examine: every text file of the repository, and the parsed Go files
// of this module.
type tree struct {
	texts   []text
	data    []string // paths of files that are not text, or are too large
	sources []source
	modules []string // folders with a go.mod of their own
	shipped []string // modules that are part of the program as text
}

type text struct {
	path  string // from the root, with slashes
	bytes []byte
}

// A source is read whatever its build constraints: a rule that is checked on Linux only would
// first be broken in files for other systems.
type source struct {
	text
	file    *ast.File
	set     *token.FileSet
	imports map[string]string // the name a file calls a package by → its import path
}

func (s source) folder() string { return path.Dir(s.path) }
func (s source) isTest() bool   { return strings.HasSuffix(s.path, "_test.go") }
func (s source) line(p token.Pos) int {
	return s.set.Position(p).Line
}

// No rule applies to files in .gitignore and to foreign files.
var skippedFolders = []string{".git", "bin", "build", ".muster", "node_modules"}

// A larger file is data, not text that somebody wrote.
const textBytesMax = 1 << 20

func readTree(t *testing.T) *tree {
	t.Helper()
	tree, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

var readOnce = sync.OnceValues(func() (*tree, error) {
	tr, root := &tree{}, os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		// Other tests may run at the same time, and add and remove files.
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return tr.addFolder(root, name)
		case d.Type().IsRegular():
			return tr.addFile(root, name)
		}
		return nil
	})
	return tr, err
})

func (tr *tree) addFolder(root fs.FS, name string) error {
	if name == "." {
		return nil
	}
	if _, err := fs.Stat(root, name+"/go.mod"); err == nil {
		tr.modules = append(tr.modules, name)
	}
	// go:embed leaves modules out, so a module that is shipped has another name for its file.
	if _, err := fs.Stat(root, name+"/go.mod.txt"); err == nil {
		tr.shipped = append(tr.shipped, name)
	}
	return nil
}

func (tr *tree) addFile(root fs.FS, name string) error {
	data, err := fs.ReadFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(data) > textBytesMax || bytes.IndexByte(data, 0) >= 0 {
		tr.data = append(tr.data, name)
		return nil
	}
	tr.texts = append(tr.texts, text{name, data})
	if path.Ext(name) != ".go" || strings.Contains("/"+name, "/testdata/") || tr.inSideModule(name) {
		return nil
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, data, parser.ParseComments)
	if err != nil {
		return err
	}
	tr.sources = append(tr.sources, source{text{name, data}, file, set, importNames(file)})
	return nil
}

func (tr *tree) inSideModule(name string) bool {
	return slices.ContainsFunc(slices.Concat(tr.modules, tr.shipped), func(m string) bool { return strings.HasPrefix(name, m+"/") })
}

func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		importPath := strings.Trim(spec.Path.Value, `"`)
		name := baseName(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = importPath
	}
	return names
}

// baseName guesses the package's name from its import path, like goimports.
func baseName(importPath string) string {
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(importPath))
	}
	return base
}

// under reports whether a path matches one of the patterns: "a/b" matches that path alone,
// "a/b/..." matches it and everything below it.
func under(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, all := strings.CutSuffix(p, "/...")
		return name == prefix || all && strings.HasPrefix(name, prefix+"/")
	})
}
