package main

// heldOut returns pairs for kinds of text beside code, two or more for each: prose, markup, JSON, diagnostics and
// assembly listings. All were chosen, and their changes judged, before their causes were seen.
func heldOut(t tools) []pair {
	pandoc := func(version string, words ...string) []string {
		return append([]string{t.in("pandoc-"+version, "pypandoc", "files", "pandoc"), "-f", "gfm", "{in}"}, words...)
	}
	pandocs := []string{pandoc("2.19.2")[0], pandoc("3.5")[0]}
	ruff := func(version, form string) []string {
		return []string{t.in("ruff-"+version, "bin", "ruff"), "check", "--isolated", "--no-cache", "--exit-zero", "--select", "E,F,W,B", "--output-format", form, "-"}
	}
	ruffs := []string{ruff("0.1.15", "")[0], ruff("0.9.10", "")[0]}
	python := func() ([]source, error) { return below(t.in("python-set"), ".py") }
	render := func(options string) []string {
		const program = "const [m,o,f]=process.argv.slice(1);process.stdout.write(require(m)('default',JSON.parse(o)).render(require('fs').readFileSync(f,'utf8')))"
		return []string{t.node, "-e", program, t.in("markdown-it-14.1.0", "dist", "markdown-it.js"), options, "{in}"}
	}
	tokens := func(preset, options string) []string {
		const program = "const [m,p,o,f]=process.argv.slice(1);process.stdout.write(JSON.stringify(require(m)(p,JSON.parse(o)).parse(require('fs').readFileSync(f,'utf8'),{}),null,1))"
		return []string{t.node, "-e", program, t.in("markdown-it-14.1.0", "dist", "markdown-it.js"), preset, options, "{in}"}
	}
	style := func(version string) []string {
		return []string{"env", "PYTHONPATH=" + t.in("pycodestyle-"+version), t.python, "-W", "ignore", "-m", "pycodestyle", "--select=E,W", "-"}
	}
	gcc := func(flags string) []string { return []string{"sh", "-c", "f2c | gcc -x c -o - " + flags + " - 2>&1"} }
	fortran := func() ([]source, error) { return below(t.in("slycot-0.5.4"), ".f") }
	return []pair{
		{
			name: "plain", versions: "pandoc, gfm to plain text, 2.19.2 → 3.5", old: pandoc("2.19.2", "-t", "plain"), now: pandoc("3.5", "-t", "plain"),
			needs: pandocs, corpus: t.markdown, changes: 4, untuned: true,
		},
		{
			name: "columns", versions: "pandoc, gfm to plain text, 72 → 80 columns", old: pandoc("3.5", "-t", "plain"), now: pandoc("3.5", "-t", "plain", "--columns=80"),
			needs: pandocs, corpus: t.markdown, changes: 1,
		},
		{
			name: "html", versions: "pandoc, gfm to HTML, 2.19.2 → 3.5", old: pandoc("2.19.2", "-t", "html"), now: pandoc("3.5", "-t", "html"),
			needs: pandocs, corpus: t.markdown, changes: 6, untuned: true,
		},
		{
			name: "breaks", versions: "markdown-it, XHTML with breaks", old: render(`{"html":true}`), now: render(`{"html":true,"xhtmlOut":true,"breaks":true}`),
			needs: []string{t.node, t.in("markdown-it-14.1.0")}, corpus: t.markdown, changes: 2, untuned: true,
		},
		{
			name: "ast", versions: "pandoc, gfm to JSON, 2.19.2 → 3.5", old: pandoc("2.19.2", "-t", "json"), now: pandoc("3.5", "-t", "json"),
			needs: pandocs, corpus: t.markdown, changes: 3,
		},
		{
			name: "ruff-json", versions: "ruff check, JSON, 0.1.15 → 0.9.10", old: ruff("0.1.15", "json"), now: ruff("0.9.10", "json"),
			stdin: true, needs: ruffs, corpus: python, changes: 4,
		},
		{
			name: "ruff-check", versions: "ruff check, 0.1.15 → 0.9.10", old: ruff("0.1.15", "text"), now: ruff("0.9.10", "concise"),
			stdin: true, needs: ruffs, corpus: python, changes: 4,
		},
		{
			name: "tokens", versions: "markdown-it's tokens in JSON, tables and links", old: tokens("commonmark", `{}`), now: tokens("default", `{"html":true,"linkify":true}`),
			needs: []string{t.node, t.in("markdown-it-14.1.0")}, corpus: t.markdown, changes: 4,
		},
		{
			name: "pycodestyle", versions: "pycodestyle 2.5.0 → 2.11.1", old: style("2.5.0"), now: style("2.11.1"),
			stdin: true, needs: []string{t.python, t.in("pycodestyle-2.5.0"), t.in("pycodestyle-2.11.1")}, corpus: python, sample: 300, changes: 5, untuned: true,
		},
		{
			name: "warnings", versions: "gcc -Wall → -Wall -Wextra, of f2c's C", old: gcc("-fsyntax-only -Wall"), now: gcc("-fsyntax-only -Wall -Wextra"),
			stdin: true, corpus: fortran, sample: 300, changes: 2, untuned: true,
		},
		{
			name: "frames", versions: "gcc -S -O1, with frame pointers", old: gcc("-w -S -O1"), now: gcc("-w -S -O1 -fno-omit-frame-pointer"),
			stdin: true, corpus: fortran, sample: 300, changes: 4, untuned: true,
		},
		{
			name: "branches", versions: "gcc -S -O1, without branch protection", old: gcc("-w -S -O1 -fcf-protection"), now: gcc("-w -S -O1 -fcf-protection=none"),
			stdin: true, corpus: fortran, sample: 300, changes: 2, untuned: true,
		},
	}
}
