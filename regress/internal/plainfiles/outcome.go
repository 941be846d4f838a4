package plainfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// format is the version of the export's format, and the only one that is read.
const format = 2

// goldenJSON is golden.json. Its strings are printed as names are, because JSON cannot hold odd
// bytes.
type goldenJSON struct {
	Format    int               `json:"format"`
	Cases     int               `json:"cases"`
	Engine    bool              `json:"engine,omitempty"` // an engine made some outcomes
	Flags     map[string]string `json:"flags"`
	Selection *selectionJSON    `json:"selection,omitempty"` // nil = everything
}

// selectionJSON is the selection of the record.
type selectionJSON struct {
	Globs     []string `json:"cases,omitempty"`
	Filters   []string `json:"filters,omitempty"`
	Partition string   `json:"partition,omitempty"`
	Sample    int      `json:"sample,omitempty"`
}

// caseJSON is outcome.json: the compared part of an outcome.
type caseJSON struct {
	Name string `json:"name"`
	// Endings of all runs, sorted, with those of a limit last. If a run ended by itself, the kept
	// parts are of such a run.
	Endings []endingJSON `json:"endings"`
	Parts   []partJSON   `json:"parts,omitempty"` // empty if a limit ended all runs
}

// endingJSON is an ending. Both fields are required.
type endingJSON struct {
	Kind *regress.EndingKind `json:"kind"`
	Code *int                `json:"code"`
}

type partJSON struct {
	Part       string       `json:"part"`           // stdout, stderr or file
	Path       string       `json:"path,omitempty"` // of a file
	Flaky      bool         `json:"flaky,omitempty"`
	Seen       []string     `json:"seen,omitempty"` // the shapes of a flaky part
	Form       string       `json:"form,omitempty"` // symlink, gone or ignored; by default regular
	Executable bool         `json:"executable,omitempty"`
	Content    *contentJSON `json:"content,omitempty"` // if the export has it
}

type contentJSON struct {
	Size   int64          `json:"size"`
	SHA256 outcome.Digest `json:"sha256"`
}

const filePart = "file"

var formNames = [...]string{outcome.Regular: "", outcome.Symlink: "symlink", outcome.Gone: "gone", outcome.Ignored: "ignored"}

func describe(r golden.Record) caseJSON {
	o := &r.Outcome
	c := caseJSON{Name: name.Print(r.Name)}
	endings := append([]regress.Ending{o.Ending}, o.Others...)
	slices.SortFunc(endings, outcome.CompareEndings)
	for i := range endings {
		c.Endings = append(c.Endings, endingJSON{&endings[i].Kind, &endings[i].Code})
	}
	if o.Ending.Partial() {
		return c
	}
	for _, p := range o.Parts {
		c.Parts = append(c.Parts, describePart(p))
	}
	return c
}

func describePart(p outcome.Part) partJSON {
	j := partJSON{Part: filePart, Path: name.Print(p.Path), Flaky: p.Flaky}
	if p.Place != outcome.File {
		j.Part = p.String()
	}
	if p.Flaky {
		for _, s := range p.Seen.List() {
			j.Seen = append(j.Seen, s.String())
		}
		return j
	}
	j.Form, j.Executable = formNames[p.Form], p.Exec
	if golden.HasContent(p) {
		j.Content = &contentJSON{p.Size, p.Digest}
	}
	return j
}

// record is the inverse of describe. It assumes that the kept run had the first ending.
func (c caseJSON) record() (r golden.Record, err error) {
	if r.Name, err = name.Parse(c.Name); err != nil {
		return r, err
	}
	o := &r.Outcome
	if o.Ending, o.Others, err = c.endings(); err != nil {
		return r, err
	}
	if o.Ending.Partial() && len(c.Parts) > 0 {
		return r, errStopped
	}
	for _, j := range c.Parts {
		p, err := j.part()
		if err == nil && p.Flaky {
			p.Seen, err = shapes(j.Seen)
		}
		if err != nil {
			return r, err
		}
		o.Parts = append(o.Parts, p)
	}
	o.Sort()
	return r, nil
}

func (c caseJSON) endings() (first regress.Ending, others []regress.Ending, err error) {
	var all []regress.Ending
	for _, e := range c.Endings {
		if e.Kind == nil || e.Code == nil {
			return first, nil, errors.New("an ending has kind and code")
		}
		all = append(all, regress.Ending{Kind: *e.Kind, Code: *e.Code})
	}
	if len(all) == 0 || !slices.IsSortedFunc(all, outcome.CompareEndings) {
		return first, nil, errors.New("the endings are missing or out of order")
	}
	if len(all) > 1 {
		others = all[1:]
	}
	return all[0], others, nil
}

var errStopped = errors.New("a stopped case has no parts")

// shapes reads names of shapes, in their order.
func shapes(names []string) (set outcome.Shapes, err error) {
	for _, n := range names {
		one, known := outcome.ParseShape(n)
		switch bit := outcome.ShapesOf(one); {
		case !known:
			return 0, fmt.Errorf("unknown shape %q", n)
		case bit <= set:
			return 0, fmt.Errorf("shape %q is a duplicate or out of order", n)
		default:
			set |= bit
		}
	}
	return set, nil
}

func (j partJSON) part() (outcome.Part, error) {
	p := outcome.Part{Flaky: j.Flaky, Exec: j.Executable}
	switch j.Part {
	case outcome.Key{Place: outcome.Stdout}.String():
		p.Place = outcome.Stdout
	case outcome.Key{Place: outcome.Stderr}.String():
		p.Place = outcome.Stderr
	case filePart:
		p.Place = outcome.File
	default:
		return p, fmt.Errorf("unknown part %q", j.Part)
	}
	form := slices.Index(formNames[:], j.Form)
	if form < 0 {
		return p, fmt.Errorf("unknown form %q", j.Form)
	}
	if j.Flaky && (form != 0 || j.Executable || j.Content != nil) || !j.Flaky && j.Seen != nil {
		return p, fmt.Errorf("%s is flaky and was seen in some shapes, or has content", j.Part)
	}
	p.Form = outcome.Form(form)
	if j.Content != nil {
		p.Size, p.Digest = j.Content.Size, j.Content.SHA256
	}
	var err error
	p.Path, err = name.Parse(j.Path)
	return p, err
}

// isExported reports whether an export has p's content.
func isExported(o *outcome.Outcome, p outcome.Part) bool {
	return !o.Ending.Partial() && !p.Flaky && golden.HasContent(p)
}

// contentPath returns the path of p's content, relative to the case's folder.
func contentPath(p outcome.Part) (string, error) {
	switch p.Place {
	case outcome.Stdout:
		return stdoutFile, nil
	case outcome.Stderr:
		return stderrFile, nil
	}
	parts, err := cleanParts(p.Path)
	return filesFolder + "/" + strings.Join(parts, "/"), err
}

// encode writes v for people, always in the same form.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// decode reads the output of encode, and nothing else.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the end")
	}
	return nil
}

// checkFormat detects an export of another format, which would otherwise look damaged.
func checkFormat(b []byte) error {
	var v struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if v.Format != format {
		return fmt.Errorf("it has format %d, and this muster reads format %d", v.Format, format)
	}
	return nil
}
