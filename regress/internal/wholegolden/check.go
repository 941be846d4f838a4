// Package wholegolden does what needs every record of a golden: it describes, checks, prints and merges
// goldens. Package golden reads and changes single records. Package goldens is the public face of both.
//
// It must not run cases or judge outcomes.
package wholegolden

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// CheckResult counts the contents of a golden and lists the damage.
type CheckResult struct {
	Cases    int
	Contents int   // distinct and not empty
	Bytes    int64 // of these contents
	Damaged  []DamagedEntry
	Lists    []error // damage that affects no single case
}

// Whole reports whether nothing is damaged.
func (c *CheckResult) Whole() bool { return len(c.Damaged) == 0 && len(c.Lists) == 0 }

// DamagedEntry is a content that does not match its digest, or a case that cannot be read.
type DamagedEntry struct {
	Reason error
	Cases  []Place // the affected cases
}

// Place is a part of a case.
type Place struct{ Case, Part string }

// String returns "case a/b.c (stdout)".
func (p Place) String() string {
	if p.Part == "" {
		return "case " + name.Print(p.Case)
	}
	return fmt.Sprintf("case %s (%s)", name.Print(p.Case), name.Print(p.Part))
}

// Check reads the whole of an open golden: each content once, the list of shared files, and
// all pages. Open has checked the rows. Damage is in the result: an error means that the
// check failed.
func Check(ctx context.Context, s *golden.Store) (*CheckResult, error) {
	c := &checker{store: s, found: &CheckResult{Cases: s.Len()}, seen: map[outcome.Digest]int{}}
	for n := range s.Names() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.checkCase(n); err != nil {
			return nil, err
		}
	}
	_, err := s.Shared()
	for _, err := range []error{err, s.CheckPages(ctx)} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case regress.ClassOf(err) == regress.Input:
			c.found.Lists = append(c.found.Lists, reason(err))
		case err != nil:
			return nil, err
		}
	}
	return c.found, nil
}

type checker struct {
	store *golden.Store
	found *CheckResult
	// seen maps every content that was read to its index in found.Damaged, or to -1 if it is whole.
	seen map[outcome.Digest]int
}

func (c *checker) checkCase(caseName string) error {
	r, _, err := c.store.Get(caseName)
	if regress.ClassOf(err) == regress.Input {
		c.addDamaged(err, Place{Case: caseName})
		return nil
	}
	if err != nil {
		return err
	}
	for p := range golden.WithContent(&r.Outcome) {
		if err := c.checkContent(p, Place{caseName, p.String()}); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkContent(p outcome.Part, at Place) error {
	if i, known := c.seen[p.Digest]; known {
		if i >= 0 {
			d := &c.found.Damaged[i]
			d.Cases = append(d.Cases, at)
		}
		return nil
	}
	err := readThrough(c.store, p)
	if err != nil && regress.ClassOf(err) != regress.Input {
		return err
	}
	if p.Size > 0 {
		c.found.Contents++
		c.found.Bytes += p.Size
	}
	c.seen[p.Digest] = -1
	if err != nil {
		c.seen[p.Digest] = c.addDamaged(err, at)
	}
	return nil
}

// addDamaged adds an entry with one place, and returns the entry's index.
func (c *checker) addDamaged(err error, at Place) int {
	c.found.Damaged = append(c.found.Damaged, DamagedEntry{reason(err), []Place{at}})
	return len(c.found.Damaged) - 1
}

// reason returns the reason of damage, without the golden's name and the mend.
func reason(err error) error {
	if d := (*golden.Damage)(nil); errors.As(err, &d) {
		return d.Reason
	}
	return err
}

func readThrough(s *golden.Store, p outcome.Part) error {
	r, err := s.Content(p)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

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
	for _, c := range commands(m.Command) {
		writeLine(w, "# command", c.String())
	}
	for _, f := range toolFiles(m.Tool) {
		writeLine(w, "# tool", f.Path, cmp.Or(digestText(f.SHA256), f.Role))
	}
	for _, e := range name.PrintAll(m.Env) {
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
		writeLine(w, "# accepted", timeText(a.At), name.Print(a.Author), name.Print(a.Run), name.Print(a.Reason))
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
