package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A pair is two versions of a tool, and their corpus.
type pair struct {
	name     string
	versions string
	old, now []string // commands; {in} is the source
	stdin    bool     // the source is on standard input
	needs    []string // required files; without one of them the pair is left out
	corpus   func() ([]source, error)
	sample   int // number of cases that take about two minutes; 0 = all
	// The largest allowed number of causes, or of families if families count. Causes alone may be
	// less legible for tools other than formatters.
	most     int
	families bool
	changes  int  // what changed, as people see it; most follows from it. 0 = not judged
	untuned  bool // nobody looked at its causes to improve the analysis
}

// tools is where they lie.
type tools struct {
	cache, goroot, python, node string
}

func (b *bench) find(ctx context.Context) (t tools, err error) {
	t.cache = b.cache
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return t, fmt.Errorf("go env GOROOT: %w", err)
	}
	t.goroot = strings.TrimSpace(string(root))
	// The program itself: what stands for it on PATH may be a script that chooses one.
	if python, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		t.python = strings.TrimSpace(string(python))
	}
	if t.node, err = exec.LookPath("node"); errors.Is(err, exec.ErrNotFound) {
		err = nil
	}
	return t, err
}

func (t tools) in(words ...string) string {
	return filepath.Join(append([]string{t.cache, "causes"}, words...)...)
}

// pairs returns all pairs. Untuned pairs are the proof, because the analysis was tuned only on
// the others.
func pairs(t tools) []pair {
	esbuild := func(version string) string { return filepath.Join(t.cache, "esbuild-"+version) }
	prettier8, prettier3 := t.in("prettier-2.8.8", "bin-prettier.js"), t.in("prettier-3.3.3", "bin", "prettier.cjs")
	tsc := func(version string) string { return t.in("typescript-"+version, "lib", "tsc.js") }
	black := func(version string) []string {
		return []string{"env", "PYTHONPATH=" + t.in("black-"+version), t.python, "-m", "black", "-q", "-"}
	}
	ruff := func(version string) string { return t.in("ruff-"+version, "bin", "ruff") }
	clang := func(version string) string {
		return t.in("clang-format-"+version, "clang_format", "data", "bin", "clang-format")
	}
	uglify := func(version string) string { return t.in("uglify-js-"+version, "bin", "uglifyjs") }
	biome := func(version string) string { return t.in("@biomejs", "cli-linux-x64-"+version, "biome") }
	pandoc := func(version string) string { return t.in("pandoc-"+version, "pypandoc", "files", "pandoc") }
	gofmt := filepath.Join(t.goroot, "bin", "gofmt")
	const render = "const [m,p,o,f]=process.argv.slice(1);process.stdout.write(require(m)(p,JSON.parse(o)).render(require('fs').readFileSync(f,'utf8')))"
	markdownIt := t.in("markdown-it-14.1.0", "dist", "markdown-it.js")
	rendered := func(preset, options string) []string {
		return []string{t.node, "-e", render, markdownIt, preset, options, "{in}"}
	}
	pygments := func(version string) []string {
		return []string{"env", "PYTHONPATH=" + t.in("pygments-"+version), t.python, "-m", "pygments", "-f", "html", "{in}"}
	}
	shfmt := t.in("shfmt-4.2.0", "bin", "shfmt")
	npmSet := func() ([]source, error) { return below(filepath.Join(t.cache, "npm-set"), ".js") }
	pythonSet := func() ([]source, error) { return below(t.in("python-set"), ".py") }
	// A few sources are so large that black takes minutes for each.
	shortPython := func() ([]source, error) { return notAbove(24_000, pythonSet) }
	// Helpers of an old target, declarations and complaints are what changes between releases.
	typed := []string{"--target", "es5", "--lib", "es2020,dom", "--downlevelIteration", "--declaration", "--module", "commonjs", "--noResolve", "--pretty", "false"}
	const single = "sed 's/DOUBLE PRECISION/REAL            /' | " // all of its reals are double
	fortran := func() ([]source, error) { return below(t.in("slycot-0.5.4"), ".f") }
	shell := func() ([]source, error) { return below(t.in("bash-completion-2.11"), "", "completions") }
	return append([]pair{
		{
			name: "markdown-quotes", versions: "markdown-it, typographic quotes", old: rendered("default", `{"html":true}`), now: rendered("default", `{"html":true,"typographer":true}`),
			needs: []string{t.node, markdownIt}, corpus: t.markdown, changes: 3,
		},
		{
			name: "markdown-tables", versions: "markdown-it, tables and links", old: rendered("commonmark", `{}`), now: rendered("default", `{"html":true,"linkify":true}`),
			needs: []string{t.node, markdownIt}, corpus: t.markdown, changes: 4,
		},
		{
			name: "highlighter", versions: "pygments, 2.10.0 → 2.17.2", old: pygments("2.10.0"), now: pygments("2.17.2"),
			needs: []string{t.python, t.in("pygments-2.10.0"), t.in("pygments-2.17.2")}, corpus: t.mixed, sample: 80, changes: 3,
		},
		{
			name: "minifier", versions: "uglify-js -c -m, 3.13.10 → 3.19.3", old: []string{t.node, uglify("3.13.10"), "-c", "-m", "--", "{in}"}, now: []string{t.node, uglify("3.19.3"), "-c", "-m", "--", "{in}"},
			needs: []string{t.node, uglify("3.13.10"), uglify("3.19.3")}, corpus: npmSet, sample: 200, changes: 5,
		},
		{
			name: "shfmt", versions: "shfmt → shfmt -ci -sr", old: []string{shfmt, "-ln", "bash", "{in}"}, now: []string{shfmt, "-ci", "-sr", "-ln", "bash", "{in}"},
			needs: []string{shfmt, t.in("bash-completion-2.11")}, corpus: shell, changes: 2,
		},
		{
			name: "f2c-reals", versions: "f2c → f2c -r8", old: []string{"sh", "-c", single + "f2c"}, now: []string{"sh", "-c", single + "f2c -r8"}, stdin: true,
			needs: []string{"/usr/bin/f2c", t.in("slycot-0.5.4")}, corpus: fortran, sample: 300, changes: 3,
		},
		{
			name: "f2c-locals", versions: "f2c → f2c -a", old: []string{"f2c"}, now: []string{"f2c", "-a"}, stdin: true,
			needs: []string{"/usr/bin/f2c", t.in("slycot-0.5.4")}, corpus: fortran, sample: 500, changes: 2,
		},
		{
			name: "casts", versions: "f2c, a space after casts", old: []string{"f2c"}, now: []string{"sh", "-c", `f2c | sed -E 's/\((integer|real|doublereal|ftnlen|logical|ftnint|doublecomplex|complex|char \*|char)\)/& /g'`}, stdin: true,
			needs: []string{"/usr/bin/f2c", t.in("slycot-0.5.4")}, corpus: fortran, sample: 500, changes: 1,
		},
		{
			name: "esbuild", versions: "0.19.12 → 0.25.0", old: []string{esbuild("0.19.12"), "{in}"}, now: []string{esbuild("0.25.0"), "{in}"},
			needs: []string{esbuild("0.19.12"), esbuild("0.25.0")}, corpus: npmSet, most: 25,
		},
		{
			name: "gofmt", versions: "gofmt → gofmt -s", old: []string{gofmt, "{in}"}, now: []string{gofmt, "-s", "{in}"},
			needs: []string{gofmt}, corpus: func() ([]source, error) {
				return below(t.goroot, ".go", "src", "test")
			}, most: 25,
		},
		{
			name: "prettier", versions: "2.8.8 → 3.3.3", old: []string{t.node, prettier8, "{in}"}, now: []string{t.node, prettier3, "{in}"},
			needs: []string{t.node, prettier8, prettier3}, corpus: npmSet, sample: 400, most: 25,
		},
		{
			name: "black", versions: "22.12.0 → 24.10.0", old: black("22.12.0"), now: black("24.10.0"), stdin: true,
			needs: []string{t.python, t.in("black-22.12.0"), t.in("black-24.10.0")}, corpus: shortPython, sample: 300, most: 25,
		},
		{
			name: "tsc", versions: "4.9.5 → 5.6.3", old: append([]string{t.node, tsc("4.9.5"), "{in}"}, typed...), now: append([]string{t.node, tsc("5.6.3"), "{in}"}, typed...),
			needs: []string{t.node, tsc("4.9.5"), tsc("5.6.3")}, corpus: t.typed, sample: 60, most: 25, families: true,
		},
		{
			name: "ruff", versions: "format, 0.1.15 → 0.9.10", old: []string{ruff("0.1.15"), "format", "--isolated", "-"}, now: []string{ruff("0.9.10"), "format", "--isolated", "-"}, stdin: true,
			needs: []string{ruff("0.1.15"), ruff("0.9.10")}, corpus: pythonSet, most: 25,
		},
		{
			name: "clang-format", versions: "10.0.1 → 21.1.8", old: []string{clang("10.0.1"), "--style=Mozilla", "{in}"}, now: []string{clang("21.1.8"), "--style=Mozilla", "{in}"},
			needs: append([]string{clang("10.0.1"), clang("21.1.8")}, t.c()...), corpus: t.cSet, most: 25,
		},
		{
			name: "uglify-js", versions: "3.13.10 → 3.19.3", old: []string{t.node, uglify("3.13.10"), "-c", "-b", "--", "{in}"}, now: []string{t.node, uglify("3.19.3"), "-c", "-b", "--", "{in}"},
			needs: []string{t.node, uglify("3.13.10"), uglify("3.19.3")}, corpus: npmSet, sample: 300, most: 25, families: true,
		},
		{
			name: "marked", versions: "4.3.0 → 12.0.2", old: []string{t.node, t.in("marked-4.3.0", "bin", "marked.js"), "-i", "{in}"}, now: []string{t.node, t.in("marked-12.0.2", "bin", "marked.js"), "-i", "{in}"},
			needs: []string{t.node, t.in("marked-4.3.0"), t.in("marked-12.0.2")}, corpus: t.markdown, most: 25, families: true,
		},
		{
			name: "biome", versions: "format, 1.2.2 → 1.9.4", old: []string{biome("1.2.2"), "format", "--stdin-file-path=a.js"}, now: []string{biome("1.9.4"), "format", "--stdin-file-path=a.js"}, stdin: true,
			needs: []string{biome("1.2.2"), biome("1.9.4")}, corpus: npmSet, sample: 2000, most: 25, untuned: true,
		},
		{
			name: "pandoc", versions: "gfm to LaTeX, 2.19.2 → 3.5", old: []string{pandoc("2.19.2"), "-f", "gfm", "-t", "latex", "{in}"}, now: []string{pandoc("3.5"), "-f", "gfm", "-t", "latex", "{in}"},
			needs: []string{pandoc("2.19.2"), pandoc("3.5")}, corpus: t.markdown, most: 25, families: true, untuned: true,
		},
	}, heldOut(t)...)
}

// notAbove are the sources of a corpus that are not larger than that.
func notAbove(size int64, corpus func() ([]source, error)) (short []source, err error) {
	all, err := corpus()
	for _, s := range all {
		if info, err := os.Stat(s.path); err != nil {
			return nil, err
		} else if info.Size() <= size {
			short = append(short, s)
		}
	}
	return short, err
}

// typed are sources in TypeScript.
func (t tools) typed() (all []source, err error) {
	for _, folder := range []string{filepath.Join(t.cache, "npm-set", "rxjs"), t.in("ethers-6.13.4", "src.ts")} {
		found, err := below(folder, ".ts")
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			if !strings.HasSuffix(s.name, ".d.ts") {
				s.name = filepath.Base(folder) + "/" + s.name
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// mixed are sources in several languages.
func (t tools) mixed() (all []source, err error) {
	for _, extension := range []string{".js", ".ts", ".c", ".cc", ".h", ".py", ".go", ".md", ".sh", ".css", ".json", ".yml"} {
		for _, folder := range append(t.c(), filepath.Join(t.cache, "npm-set", "rxjs"), t.in("ethers-6.13.4"), t.in("python-set", "docutils"), filepath.Join(t.goroot, "src", "cmd", "go")) {
			found, err := below(folder, extension)
			if err != nil {
				return nil, err
			}
			for _, s := range found {
				s.name = filepath.Base(folder) + "/" + s.name
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// c are folders with sources in C and C++, in different styles.
func (t tools) c() []string {
	return []string{t.in("leveldown-6.1.1"), t.in("libxmljs2-0.35.0"), t.in("node-sass-9.0.0")}
}

// cSet are these sources, the headers among them.
func (t tools) cSet() (all []source, err error) {
	for _, folder := range t.c() {
		for _, extension := range []string{".c", ".cc", ".cpp", ".h", ".hpp"} {
			found, err := below(folder, extension)
			if err != nil {
				return nil, err
			}
			for _, s := range found {
				s.name = filepath.Base(folder) + "/" + s.name
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// newer matches packages that came when the sources in Markdown had been chosen.
var newer = regexp.MustCompile(`^(bash-completion|clang-format|leveldown|libxmljs2|markdown-it|node-sass|pandoc|pygments|shfmt|slycot|uglify-js)-`)

// markdown returns the examples of the specification, each a case, and the Markdown files of packages.
func (t tools) markdown() ([]source, error) {
	text, err := os.ReadFile(t.in("commonmark-spec-0.31.2", "spec.txt"))
	if err != nil {
		return nil, err
	}
	all := examples(string(text))
	for _, folder := range []string{filepath.Join(t.cache, "npm-set"), t.in(), t.goroot} {
		found, err := below(folder, ".md")
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			if !newer.MatchString(s.name) {
				s.name = filepath.Base(folder) + "/" + s.name
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// missing names what a pair needs and is not there.
func (p pair) missing() (names []string) {
	for _, path := range p.needs {
		if path == "" {
			names = append(names, "an interpreter")
		} else if _, err := os.Stat(path); err != nil {
			names = append(names, path)
		}
	}
	return names
}
