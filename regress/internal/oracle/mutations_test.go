package oracle

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mutation is a break of one line that the oracle must notice.
type mutation struct {
	group    string // verdict, resume, identity, flips or fork
	file     string // from this folder
	old, new string // old occurs once in the file
	breaks   string
}

// mutationRounds is how many rounds the oracle has to notice a mutation.
const mutationRounds = 12000

var mutated = flag.String("mutations", "", "break the code by the mutations whose group or effect contains `TEXT`, or all")

// rooms is the folder that the files of mutations are relative to.
const rooms = "../.."

// TestMutations breaks the code in one place after another, and wants the oracle to notice
// each. Without -mutations it only looks whether all mutations still fit the code, and compile.
func TestMutations(t *testing.T) {
	code := listCode(t)
	for _, m := range mutations {
		text, err := m.apply()
		if err == nil && strings.HasSuffix(m.file, ".go") {
			err = code.compile(m.file, text)
		}
		if err != nil {
			t.Errorf("%s: %v", m.breaks, err)
			continue
		}
		if *mutated == "all" || *mutated != "" && (m.group == *mutated || strings.Contains(m.breaks, *mutated)) {
			t.Run(m.group+"/"+m.breaks, func(t *testing.T) { m.run(t, text) })
		}
	}
}

// apply returns the file with the mutation.
func (m mutation) apply() (string, error) {
	text, err := os.ReadFile(filepath.Join(rooms, m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, not once: change the mutation with the code, or replace it by another", m.file, m.old, n)
	}
	return strings.Replace(string(text), m.old, m.new, 1), nil
}

// code is the packages that mutations change.
type code struct {
	set     *token.FileSet
	imports types.Importer
	files   map[string][]string // names of the files of a package, by its folder
}

func listCode(t *testing.T) code {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	list.Dir = rooms
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	c := code{set: token.NewFileSet(), files: map[string][]string{}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath], c.files[p.Dir] = p.Export, p.GoFiles
	}
	c.imports = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// compile type-checks the package of a file, with text in place of the file's own. That is much faster
// than go build.
func (c code) compile(file, text string) error {
	path, err := filepath.Abs(filepath.Join(rooms, file))
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if !slices.Contains(c.files[dir], filepath.Base(path)) {
		return fmt.Errorf("go list has no file %s", path)
	}
	var files []*ast.File
	for _, name := range c.files[dir] {
		var source any // nil = what is on the disk
		if name == filepath.Base(path) {
			source = text
		}
		f, err := parser.ParseFile(c.set, filepath.Join(dir, name), source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	_, err = (&types.Config{Importer: c.imports}).Check(dir, c.set, files, nil)
	return err
}

var (
	noticed = regexp.MustCompile(`failed after (\d+) tests: (.*)`)
	broken  = regexp.MustCompile(`property .* is broken: .*`) // also where it does not happen again
)

// run builds the tests with the mutation and has the oracle look for it.
func (m mutation) run(t *testing.T, text string) {
	dir := t.TempDir()
	program := filepath.Join(dir, "oracle.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-ldflags=-s -w", "-overlay", m.overlay(t, dir, text), "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	play := "TestOracle$"
	if m.group == "fork" {
		play = "TestForks$"
	}
	c := exec.CommandContext(t.Context(), program, "-test.run", play, "-test.timeout", "10m",
		"-rounds", fmt.Sprint(mutationRounds), "-rapid.nofailfile", "-rapid.shrinktime", "0s")
	out, err := c.CombinedOutput()
	found := noticed.FindSubmatch(out)
	switch {
	case err == nil:
		t.Errorf("not noticed in %d rounds", mutationRounds)
	case found != nil:
		t.Logf("noticed in round %s: %.200s", found[1], found[2])
	default:
		t.Logf("noticed, %v: %.200s", err, append(broken.Find(out), out...))
	}
}

// overlay writes what makes go build the mutated file in place of the one in the tree.
func (m mutation) overlay(t *testing.T, dir, text string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(rooms, m.file))
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: filepath.Join(dir, "mutated.go")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"mutated.go": text, "overlay.json": string(list)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}
