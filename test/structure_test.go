package test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// structureOf selects the packages that TestStructure measures.
var structureOf = flag.String("packages", "./regress", "patterns of go list, separated by spaces, that TestStructure measures")

// TestStructure logs how a package's files depend on each other. Tests and generated code do
// not count.
//
//	go test -run TestStructure -v ./test -packages './regress ./regress/internal/...'
func TestStructure(t *testing.T) {
	listed := list(t, strings.Fields(*structureOf))
	exports := map[string]string{}
	for _, p := range listed {
		exports[p.ImportPath] = p.Export
	}
	for _, p := range listed {
		if p.DepOnly || len(p.files()) == 0 {
			continue
		}
		s, err := measureStructure(p, exports)
		if err != nil {
			t.Fatalf("%s: %v", p.ImportPath, err)
		}
		t.Log(s)
	}
}

// A listedPackage is the output of go list for a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
	DepOnly                 bool
}

func (p listedPackage) files() []string { return slices.Concat(p.GoFiles, p.CgoFiles) }

func list(t *testing.T, patterns []string) (all []listedPackage) {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,DepOnly"}, patterns...)
	text, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listedPackage
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// structure is the figures of a package.
type structure struct {
	path         string
	files, lines int
	longest      int       // lines of its longest file
	edges        int       // from a file to another file that declares what it uses
	cycles       [][]*node // groups of files that need each other, the largest first
	methods      map[string]int
}

func (s *structure) String() string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s: %d files, %d lines, %d edges between files, %d cycles", s.path, s.files, s.lines, s.edges, len(s.cycles))
	for _, c := range s.cycles {
		lines, names := 0, []string{}
		for _, n := range c {
			lines += n.lines
			names = append(names, n.name)
		}
		slices.Sort(names)
		fmt.Fprintf(text, "\n  cycle of %d files, %d lines: %s", len(c), lines, strings.Join(names, " "))
	}
	many := slices.SortedFunc(maps.Keys(s.methods), func(a, b string) int { return cmp.Compare(s.methods[b], s.methods[a]) })
	for _, name := range many[:min(5, len(many))] {
		fmt.Fprintf(text, "\n  %d methods: %s", s.methods[name], name)
	}
	return text.String()
}

// A node is a file, with the files that declare what it uses.
type node struct {
	name  string
	lines int
	uses  map[*node]bool

	index, low int // of Tarjan's algorithm; index 0 = not visited
	isOnStack  bool
}

func measureStructure(p listedPackage, exports map[string]string) (*structure, error) {
	c, err := checkTypes(p, exports)
	if err != nil {
		return nil, err
	}
	nodes := map[string]*node{}
	s := &structure{path: p.ImportPath, methods: map[string]int{}}
	for _, f := range c.files {
		file := c.set.File(f.Pos())
		n := &node{name: filepath.Base(file.Name()), lines: file.LineCount(), uses: map[*node]bool{}}
		nodes[file.Name()] = n
		s.files, s.lines, s.longest = s.files+1, s.lines+n.lines, max(s.longest, n.lines)
		countMethods(f, s.methods)
	}
	for use, object := range c.info.Uses {
		if object.Pkg() != c.pkg || !isOfPackage(object) {
			continue
		}
		from, to := nodes[c.set.Position(use.Pos()).Filename], nodes[c.set.Position(object.Pos()).Filename]
		if from != nil && to != nil && from != to {
			from.uses[to] = true
		}
	}
	for _, n := range nodes {
		s.edges += len(n.uses)
	}
	s.cycles = cyclesIn(nodes)
	return s, nil
}

// checkedPackage returns the types of a package, without generated files.
type checkedPackage struct {
	set   *token.FileSet
	files []*ast.File
	info  *types.Info
	pkg   *types.Package
}

func checkTypes(p listedPackage, exports map[string]string) (*checkedPackage, error) {
	c := &checkedPackage{set: token.NewFileSet(), info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
	}}
	for _, name := range p.files() {
		f, err := parser.ParseFile(c.set, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if !ast.IsGenerated(f) {
			c.files = append(c.files, f)
		}
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, errors.New("no export data")
		}
		return os.Open(exports[path])
	}
	config := types.Config{Importer: importer.ForCompiler(c.set, "gc", lookup), FakeImportC: true, Error: func(error) {}}
	c.pkg, _ = config.Check(p.ImportPath, c.set, c.files, c.info) // declarations in C are not known
	return c, nil
}

// isOfPackage reports whether a package declares an object, outside of its functions.
func isOfPackage(o types.Object) bool {
	if f, is := o.(*types.Func); is {
		return f.Signature().Recv() != nil || o.Parent() == o.Pkg().Scope()
	}
	if v, is := o.(*types.Var); is && v.IsField() {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

func countMethods(f *ast.File, methods map[string]int) {
	for _, d := range f.Decls {
		function, is := d.(*ast.FuncDecl)
		if !is || function.Recv == nil {
			continue
		}
		receiver := function.Recv.List[0].Type
		if star, is := receiver.(*ast.StarExpr); is {
			receiver = star.X
		}
		if index, is := receiver.(*ast.IndexExpr); is {
			receiver = index.X
		}
		if name, is := receiver.(*ast.Ident); is {
			methods[name.Name]++
		}
	}
}

// cyclesIn returns the strongly connected components of more than one file, by Tarjan's
// algorithm (SIAM Journal on Computing 1, 1972).
func cyclesIn(nodes map[string]*node) (cycles [][]*node) {
	var stack []*node
	next := 1
	var visit func(*node)
	visit = func(n *node) {
		n.index, n.low, n.isOnStack = next, next, true
		next++
		stack = append(stack, n)
		for to := range n.uses {
			if to.index == 0 {
				visit(to)
				n.low = min(n.low, to.low)
			} else if to.isOnStack {
				n.low = min(n.low, to.index)
			}
		}
		if n.low != n.index {
			return
		}
		from := slices.Index(stack, n)
		for _, member := range stack[from:] {
			member.isOnStack = false
		}
		if len(stack)-from > 1 {
			cycles = append(cycles, slices.Clone(stack[from:]))
		}
		stack = stack[:from]
	}
	for _, n := range nodes {
		if n.index == 0 {
			visit(n)
		}
	}
	slices.SortFunc(cycles, func(a, b []*node) int { return cmp.Compare(len(b), len(a)) })
	return cycles
}
