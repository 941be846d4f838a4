package plainfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// format is the version of the export's format.
const format = 1

// goldenJSON is golden.json. Its strings are printed as names are, since JSON
// has no way to hold odd bytes.
type goldenJSON struct {
	Format int               `json:"format"`
	Cases  *int              `json:"cases,omitempty"`  // how many; nil in exports from before that was told
	Engine bool              `json:"engine,omitempty"` // something in it was made on an engine
	Flags  map[string]string `json:"flags"`
}

// caseJSON is outcome.json: exactly what outcome.Outcome.Digest is over.
type caseJSON struct {
	Name   string     `json:"name"`
	Ending endingJSON `json:"ending"`
	Parts  []partJSON `json:"parts,omitempty"` // none of a case that was stopped
}

// endingJSON has kind and code, or that the ending is flaky, and then whether
// the parts are left out. Cut is outcome.Outcome's.
type endingJSON struct {
	Flaky   bool          `json:"flaky,omitempty"`
	Partial bool          `json:"partial,omitempty"`
	Kind    *outcome.Kind `json:"kind,omitempty"`
	Code    *int          `json:"code,omitempty"`
	Cut     bool          `json:"cut,omitempty"`
}

type partJSON struct {
	Part       string       `json:"part"`           // stdout, stderr or file
	Path       string       `json:"path,omitempty"` // of a file
	Flaky      bool         `json:"flaky,omitempty"`
	Form       string       `json:"form,omitempty"` // symlink or gone; else regular
	Executable bool         `json:"executable,omitempty"`
	Content    *contentJSON `json:"content,omitempty"` // when it is there
}

type contentJSON struct {
	Size   int64          `json:"size"`
	SHA256 outcome.Digest `json:"sha256"`
}

const filePart = "file"

var formNames = [...]string{outcome.Regular: "", outcome.Symlink: "symlink", outcome.Gone: "gone"}

func describe(r golden.Record) caseJSON {
	o := &r.Outcome
	c := caseJSON{Name: name.Print(r.Name)}
	if o.EndingFlaky {
		c.Ending = endingJSON{Flaky: true, Partial: o.Ending.Partial()}
	} else {
		c.Ending = endingJSON{Kind: &o.Ending.Kind, Code: &o.Ending.Code}
	}
	if o.Ending.Partial() {
		return c
	}
	c.Ending.Cut = o.Cut
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
		return j
	}
	j.Form, j.Executable = formNames[p.Form], p.Exec
	if golden.HasContent(p) {
		j.Content = &contentJSON{p.Size, p.Digest}
	}
	return j
}

// record is the way back from describe.
func (c caseJSON) record() (golden.Record, error) {
	var r golden.Record
	var err error
	if r.Name, err = name.Parse(c.Name); err != nil {
		return r, err
	}
	o := &r.Outcome
	e := c.Ending
	switch {
	case e.Flaky == (e.Kind != nil) || e.Flaky == (e.Code != nil) || e.Partial && !e.Flaky:
		return r, errors.New("the ending has kind and code, or is flaky")
	case e.Flaky:
		o.EndingFlaky = true
		if e.Partial {
			o.Ending.Kind = outcome.TimedOut // or another; it is not compared
		}
	default:
		o.Ending = outcome.Ending{Kind: *e.Kind, Code: *e.Code}
	}
	if o.Cut = e.Cut; o.Ending.Partial() && (o.Cut || len(c.Parts) > 0) {
		return r, errors.New("a case that was stopped has no parts")
	}
	for _, j := range c.Parts {
		p, err := j.part()
		if err != nil {
			return r, err
		}
		o.Parts = append(o.Parts, p)
	}
	o.Sort()
	return r, nil
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
		return p, fmt.Errorf("part %q is not known", j.Part)
	}
	form := slices.Index(formNames[:], j.Form)
	if form < 0 {
		return p, fmt.Errorf("form %q is not known", j.Form)
	}
	if j.Flaky && (form != 0 || j.Executable || j.Content != nil) {
		return p, fmt.Errorf("%s is flaky, and nothing else", j.Part)
	}
	p.Form = outcome.Form(form)
	if j.Content != nil {
		p.Size, p.Digest = j.Content.Size, j.Content.SHA256
	}
	var err error
	p.Path, err = name.Parse(j.Path)
	return p, err
}

// exported reports whether an export has p's content.
func exported(o *outcome.Outcome, p outcome.Part) bool {
	return !o.Ending.Partial() && !p.Flaky && golden.HasContent(p)
}

// place returns where p's content lies, relative to the case's folder.
func place(p outcome.Part) (string, error) {
	switch p.Place {
	case outcome.Stdout:
		return stdoutFile, nil
	case outcome.Stderr:
		return stderrFile, nil
	}
	return filePath(p.Path)
}

// encode writes v for people to read, and the same each time.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// decode reads what encode wrote, and nothing else.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something after the end")
	}
	return nil
}

// checkFormat finds an export of a later format before it is taken for a
// damaged one.
func checkFormat(b []byte) error {
	var v struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if v.Format != format {
		return fmt.Errorf("format %d; this muster knows %d", v.Format, format)
	}
	return nil
}
