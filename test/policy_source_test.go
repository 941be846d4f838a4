package test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// A ban forbids a name of another package, or the whole package (name "*").
type ban struct {
	pkg, names string // names separated by spaces; "*" is all of them
	files      fileSet
	except     string // folders that may use it, in the form of rooms
	mend       string
}

type fileSet int

const (
	code  fileSet = iota // all but tests
	tests                // tests whose clock is the system's: files without testing/synctest
	all
)

var bans = []ban{
	{"os", "Exit", code, "cmd/muster scripts/...", "return an error: cmd/muster/main.go alone maps it to an exit status, after everything deferred has run"},
	// The helper cannot return to a main that was never reached, nor import os.
	{"syscall", "Exit", code, "regress/lane", "return an error: cmd/muster/main.go alone maps it to an exit status"},
	// the probe of logging costs uses both
	{"log", "*", all, "lab/probe", "use log/slog with a logger that the caller hands in; slog.NewLogLogger where a *log.Logger is asked for"},
	{"fmt", "Print Printf Println", code, "scripts/...", "write to the io.Writer that the caller hands in: standard output belongs to the command"},
	{"os", "Stdout Stderr Stdin", code, "cmd/... scripts/...", "take an io.Writer or io.Reader from the caller: standard output belongs to the command"},
	{"os/exec", "Command", all, "", "use exec.CommandContext, so that an interrupt ends the child too (in tests with t.Context())"},
	{"time", "Sleep", tests, "", "wait for the condition itself: a channel, a pipe's end, or testing/synctest with its own clock"},
	{"io/ioutil", "*", all, "", "use os and io"},
	{"math/rand", "*", all, "", "use math/rand/v2, seeded where a run must be repeatable"},
	{"unsafe", "*", code, "regress/lane regress/lane/fork regress/lane/observe fileio/cthreads fileio/uring internal/nowait", "copy the bytes; unsafe stays where the kernel, or C, is handed addresses"},
	{"os", "IsNotExist IsExist IsPermission", all, "", "use errors.Is with fs.ErrNotExist, fs.ErrExist, fs.ErrPermission: the old ones do not look into wrapped errors"},
}

// pure packages get the time from their caller
var clock = ban{"time", "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker", code, "",
	"this package is pure (rooms in policy_test.go): take the time or the duration as an argument"}

// Folders where an init function may do work, for the reason in its comment.
const initFolder = "regress/lane"

// Files that a program wrote, with the file beside it that shows this. protoc-gen-go registers
// its messages in an init function and in exported globals, and reads their description from a
// string with unsafe. Nobody edits these files, and their packages belong to one product alone.
const generatedFolder = "files/internal/wire"

func (s source) isGenerated() bool {
	return s.folder() == generatedFolder && ast.IsGenerated(s.file)
}

func TestBannedNames(t *testing.T) {
	for _, s := range readTree(t).sources {
		if s.isGenerated() {
			continue
		}
		active := bans
		if row, ok := roomOf(s.folder()); ok && row.kind == pure {
			active = append(slices.Clip(bans), clock)
		}
		for _, b := range active {
			b.check(t, s)
		}
	}
}

// An exception that nobody needs, or whose folder is gone, would be an unnoticed hole.
func TestExceptionsAreUsed(t *testing.T) {
	for _, b := range bans {
		for _, except := range strings.Fields(b.except) {
			needs := func(s source) bool { return under(s.folder(), except) && b.concerns(s) && len(b.uses(s)) > 0 }
			if !slices.ContainsFunc(readTree(t).sources, needs) {
				t.Errorf("%s may use %s.%s and does not: take that out of bans in policy_source_test.go", except, b.pkg, b.names)
			}
		}
	}
}

func (b ban) check(t *testing.T, s source) {
	t.Helper()
	if !b.concerns(s) || under(s.folder(), strings.Fields(b.except)...) {
		return
	}
	for _, u := range b.uses(s) {
		t.Errorf("%s:%d uses %s: %s", s.path, s.line(u.pos), u.name, b.mend)
	}
}

// concerns reports whether the ban applies to files of this kind.
func (b ban) concerns(s source) bool {
	switch b.files {
	case code:
		return !s.isTest()
	case tests:
		return s.isTest() && !slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` })
	}
	return true
}

// use is a place in a file that uses a banned name.
type use struct {
	pos  token.Pos
	name string
}

func (b ban) uses(s source) (found []use) {
	if b.names == "*" {
		for _, spec := range s.file.Imports {
			if strings.Trim(spec.Path.Value, `"`) == b.pkg {
				found = append(found, use{spec.Pos(), b.pkg})
			}
		}
		return found
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// Obj is set if the name is a variable of this file, and not the package.
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && s.imports[x.Name] == b.pkg &&
			slices.Contains(strings.Fields(b.names), sel.Sel.Name) {
			found = append(found, use{sel.Pos(), b.pkg + "." + sel.Sel.Name})
		}
		return true
	})
	return found
}

// The only package with C in it, because it is about C threads. Its stub is built without cgo.
const cgoFolder = "fileio/cthreads"

func TestLanguage(t *testing.T) {
	for _, s := range readTree(t).sources {
		for name, imported := range s.imports {
			if name == "." {
				t.Errorf("%s imports %s with a dot: name the package where it is used", s.path, imported)
			}
			if imported == "C" && s.folder() != cgoFolder {
				t.Errorf("%s imports C: with CGO_ENABLED=0 it would be missing; write it in Go, or call the kernel from regress/lane; only %s has C in it, and a stub", s.path, cgoFolder)
			}
		}
		if s.isTest() || s.isGenerated() {
			continue
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.Name == "init" && s.folder() != initFolder {
				t.Errorf("%s:%d has an init function: give the package a constructor, or call the set-up from where it is needed; only %s must act before main", s.path, s.line(f.Pos()), initFolder)
			}
		}
		if under(s.folder(), "cmd/...") {
			checkPanics(t, s)
		}
	}
}

func checkPanics(t *testing.T, s source) {
	t.Helper()
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" && f.Obj == nil {
				t.Errorf("%s:%d panics: a command returns its error, for a user is no debugger", s.path, s.line(call.Pos()))
			}
		}
		return true
	})
}

// With MUSTER_REQUIRE=all nothing may skip, so a test that skips must ask first.
func TestSkipsAsk(t *testing.T) {
	reasons := []string{"MUSTER_REQUIRE", "testing.Short()", "runtime.GOOS"}
	for _, s := range readTree(t).sources {
		if !s.isTest() && !strings.Contains(s.path, "test/") {
			continue
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			body := string(s.bytes[s.set.Position(f.Pos()).Offset:s.set.Position(f.End()).Offset])
			asks := slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(body, r) })
			for _, skip := range skipsIn(f) {
				if !asks {
					t.Errorf("%s:%d skips: with MUSTER_REQUIRE=all a test must fail where it cannot run, so call Skip only in a function that asks os.Getenv(\"MUSTER_REQUIRE\"), testing.Short() or runtime.GOOS", s.path, s.line(skip.Pos()))
				}
			}
		}
	}
}

// skipsIn finds calls of Skip, Skipf and SkipNow on a parameter of package testing. On other
// values, as in a property test, they discard one draw.
func skipsIn(f *ast.FuncDecl) (found []*ast.CallExpr) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !strings.HasPrefix(sel.Sel.Name, "Skip") {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj != nil && isTestingParameter(x.Obj.Decl) {
			found = append(found, call)
		}
		return true
	})
	return found
}

func isTestingParameter(decl any) bool {
	field, ok := decl.(*ast.Field)
	if !ok {
		return false
	}
	typ := field.Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	sel, ok := typ.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "testing"
}
