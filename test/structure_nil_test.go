package test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// crewNames are the names, in lower case, of types and variables that no code in regress may
// compare with nil. A run always has a crew. Asking whether there is an engine would bring back
// a flag in place of crew.Crew.
var crewNames = []string{"crew", "engine"}

// TestNoEngineByNil requires the packages of regress to call a method of crew.Crew instead of
// asking whether an engine is nil.
func TestNoEngineByNil(t *testing.T) {
	listed := list(t, []string{"./regress/..."})
	exports := map[string]string{}
	for _, p := range listed {
		exports[p.ImportPath] = p.Export
	}
	for _, p := range listed {
		if p.DepOnly || len(p.files()) == 0 {
			continue
		}
		c, err := checkTypes(p, exports)
		if err != nil {
			t.Fatalf("%s: %v", p.ImportPath, err)
		}
		for _, place := range c.findEnginesByNil() {
			t.Errorf("%s: an engine is compared with nil: call a method of crew.Crew, which has an implementation for this machine, too", place)
		}
	}
}

// findEnginesByNil returns the places where an engine or a crew is compared with nil.
func (c *checkedPackage) findEnginesByNil() (places []string) {
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			b, is := n.(*ast.BinaryExpr)
			if !is || b.Op != token.EQL && b.Op != token.NEQ {
				return true
			}
			for _, side := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
				if c.info.Types[side[1]].IsNil() && c.isEngine(side[0]) {
					places = append(places, c.set.Position(b.Pos()).String())
				}
			}
			return true
		})
	}
	return places
}

// isEngine reports whether an expression, or its type, has one of the names.
func (c *checkedPackage) isEngine(e ast.Expr) bool {
	name := ""
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	if slices.Contains(crewNames, name) {
		return true
	}
	of := c.info.TypeOf(e)
	if pointer, is := of.(*types.Pointer); is {
		of = pointer.Elem()
	}
	named, is := of.(*types.Named)
	return is && slices.Contains(crewNames, strings.ToLower(named.Obj().Name()))
}

// only engines and crews count, by their own name or that of their type
func TestFindEnginesByNil(t *testing.T) {
	for line, want := range map[string]int{
		"_ = s.engine == nil": 1, "_ = nil != s.engine": 1, "_ = s.at == nil": 1, "_ = s.crew != nil": 1, "_ = s.who == nil": 1,
		"_ = s.run == nil": 0, "_ = s.engine == s.at": 0, "_ = err == nil": 0,
	} {
		const text = "package p; type engine struct{}; type Crew interface{}; " +
			"type session struct { engine, at *engine; crew any; who Crew; run *int }; func f(s session, err error) { %s }"
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, "p.go", fmt.Sprintf(text, line), 0)
		if err != nil {
			t.Fatal(err)
		}
		c := &checkedPackage{set: set, files: []*ast.File{f}, info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}}
		if _, err := (&types.Config{}).Check("p", set, c.files, c.info); err != nil {
			t.Fatal(err)
		}
		if got := c.findEnginesByNil(); len(got) != want {
			t.Errorf("%s: %q, want %d", line, got, want)
		}
	}
}
