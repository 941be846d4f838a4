// Package wholegolden does what needs every record of a golden: it describes, prints and merges
// goldens. Package golden reads and changes single records. Package goldens is the public face of both.
//
// It must not run cases or judge outcomes.
package wholegolden

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// WriteText writes a golden as lines, for git diff: its settings, its accepts, and a line for
// each case and part, in the order of names. Tabs separate the fields. Times, costs and the
// machine are left out, because they change with each record.
func WriteText(ctx context.Context, to io.Writer, s *golden.Store) error {
	w := bufio.NewWriter(to)
	writeMeta(w, s.Meta())
	for n := range s.Names() {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, _, err := s.Get(n)
		if err != nil {
			return err
		}
		writeCase(w, r)
	}
	return w.Flush()
}

func writeLine(w io.Writer, fields ...string) { fmt.Fprintln(w, strings.Join(fields, "\t")) }

func writeMeta(w io.Writer, m golden.Meta) {
	name.PrintIn(&m)
	for _, c := range m.Command {
		writeLine(w, "# command", commandText(c))
	}
	for _, f := range m.Tool {
		writeLine(w, "# tool", f.Path, cmp.Or(digestText(f.Digest), f.Role))
	}
	for _, e := range m.Env {
		writeLine(w, "# env", e)
	}
	for _, key := range slices.Sorted(maps.Keys(m.Flags)) {
		writeLine(w, "# flag", name.Print(key), name.Print(m.Flags[key]))
	}
	if isKnown(m.Corpus) {
		writeLine(w, "# corpus", m.Corpus.String())
	}
	writeLine(w, "# selection", selection(m.Selection).String())
	for _, a := range m.Accepts {
		writeLine(w, "# accepted", timeText(a.At), a.Author, a.Run, a.Reason)
	}
}

func writeCase(w io.Writer, r golden.Record) {
	o, printedName := &r.Outcome, name.Print(r.Name)
	fields := []string{printedName, o.Ending.String()}
	for _, e := range o.Others {
		fields = append(fields, "or "+e.String())
	}
	writeLine(w, fields...)
	if o.Ending.Partial() {
		return
	}
	for _, p := range o.Parts {
		writeLine(w, append([]string{printedName, name.Print(p.String())}, describe(p)...)...)
	}
}

// describe returns the fields of a part that are compared.
func describe(p outcome.Part) []string {
	if p.Flaky {
		var seen []string
		for _, s := range p.Seen.List() {
			seen = append(seen, s.String())
		}
		return []string{"flaky", strings.Join(seen, " ")}
	}
	form := "regular"
	switch {
	case p.Form == outcome.Gone:
		return []string{"removed"}
	case p.Form == outcome.Ignored:
		return []string{"ignored"}
	case p.Form == outcome.Symlink:
		form = "link"
	case p.Exec:
		form = "executable"
	}
	return []string{form, fmt.Sprint(p.Size), p.Digest.String()}
}
