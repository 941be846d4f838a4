package test

import (
	"bytes"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The text of the repository is for its readers and nobody else. The patterns are put together
// from pieces, or they would find themselves.
var unsayable = []struct {
	pattern *regexp.Regexp
	mend    string
}{
	// Only at the beginning of an absolute path: not within /tmp/x/wo…rk/, and not in the
	// second half of an expression such as root + "/…/".
	{regexp.MustCompile(`(^|[^\w./}"-]|(^\s*|[^+\s]|[^+]\s)")/(wo` + `rk|ro` + `ot)/`), "a path of one machine: take it from the environment, or use t.TempDir()"},
	{regexp.MustCompile(`\bsha` + `red/|\b(des` + `ign|fa` + `cts|st` + `yle|cl` + `i|cla` + `ims)\.md\b`), "a document that is not in the repository: say the thing itself, or name ARCHITECTURE.md"},
	{regexp.MustCompile(`(?i)\bthe bri` + `ef\b|\bthis sess` + `ion\b|\bas (instr` + `ucted|requ` + `ested by)\b|\bco-auth` + `ored-by\b`), "how the work was given or done, not how the program works: leave it out"},
}

// TestData: files that are not text belong to tests, except the README's picture, which a test
// makes. This test finds downloads and programs that were left in the tree.
func TestData(t *testing.T) {
	for _, p := range readTree(t).data {
		if !strings.Contains(p, "/testdata/") && p != picture {
			t.Errorf("%s is no text: remove it, or put it into a testdata folder", p)
		}
	}
}

func TestWords(t *testing.T) {
	for _, f := range readTree(t).texts {
		for _, u := range unsayable {
			for n, line := range bytes.Split(f.bytes, []byte("\n")) {
				if hit := u.pattern.Find(line); hit != nil {
					t.Errorf("%s:%d says %q, %s", f.path, n+1, bytes.TrimSpace(hit), u.mend)
				}
			}
		}
	}
}

// ./... does not enter a module of its own, so nobody would notice that it does not build.
func TestSideModulesAreBuilt(t *testing.T) {
	tr := readTree(t)
	makefile := textOf(t, tr, "Makefile")
	for _, folder := range tr.modules {
		if !strings.Contains(makefile, "-C "+folder+" build") {
			t.Errorf("module %s is not built by the Makefile: add \"$(GO) -C %s build …\" to its target side", folder, folder)
		}
	}
}

// A fragment becomes one entry of CHANGELOG.md, by scripts/changelog.
var fragment = regexp.MustCompile(`^(Added|Changed|Fixed|Removed|Security): \S`)

func TestChangelogFragments(t *testing.T) {
	for _, f := range readTree(t).texts {
		name, ok := strings.CutPrefix(f.path, "changelog/unreleased/")
		if !ok || name == "README.md" {
			continue
		}
		if path.Ext(name) != ".md" || !fragment.Match(f.bytes) {
			t.Errorf("%s: a fragment is a .md file that begins with \"Added: \", \"Changed: \", \"Fixed: \", \"Removed: \" or \"Security: \" (changelog/unreleased/README.md)", f.path)
		}
		for n, line := range bytes.Split(f.bytes, []byte("\n")) {
			if len(bytes.TrimLeft(line, " \t")) < len(line) {
				t.Errorf("%s:%d begins with a blank, and would be shown as code: begin it in the first column", f.path, n+1)
			}
		}
	}
}

func textOf(t *testing.T, tr *tree, name string) string {
	t.Helper()
	for _, f := range tr.texts {
		if f.path == name {
			return string(f.bytes)
		}
	}
	t.Fatalf("%s is not in the repository", name)
	return ""
}

// A package that starts goroutines is tested under the race detector with every change.
func TestRaceDetectorSeesGoroutines(t *testing.T) {
	tr := readTree(t)
	_, list, _ := strings.Cut(textOf(t, tr, "Makefile"), "\nRACE = ")
	list, _, _ = strings.Cut(list, "RACE_SCRIPTS")
	tested := strings.Fields(strings.ReplaceAll(list, "\\\n", " "))
	// Scripts play exec/local and the helper of cases, other tests reapitest; the lab is in make long.
	tested = append(tested, "./pool/...", "./cmd/...", "./regress/internal/exec/local", "./regress/lane", "./lab", "./test/kits/reapitest")
	isTested := func(folder string) bool {
		return slices.ContainsFunc(tested, func(word string) bool {
			above, all := strings.CutSuffix(word, "/...")
			return "./"+folder == word || all && strings.HasPrefix("./"+folder+"/", above+"/")
		})
	}
	for _, s := range tr.sources {
		top, _, _ := strings.Cut(s.path, "/")
		if s.isTest() || !slices.Contains([]string{"regress", "files", "fileio", "lab"}, top) || isTested(s.folder()) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if startsGoroutine(n) {
				t.Errorf("%s:%d starts a goroutine: add ./%s to RACE in the Makefile", s.path, s.line(n.Pos()), s.folder())
			}
			return true
		})
	}
}

// startsGoroutine reports whether a node is a go statement, or a call of (*sync.WaitGroup).Go or
// (*errgroup.Group).Go.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		f, is := n.Fun.(*ast.SelectorExpr)
		return is && f.Sel.Name == "Go" && len(n.Args) == 1
	}
	return false
}
