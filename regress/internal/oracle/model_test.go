package oracle

import (
	"fmt"
	"regexp"
	"strings"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
)

// modelParts are the parts that a modelled run may leave, in canonical order.
var modelParts = [...]outcome.Key{
	{Place: outcome.Stdout}, {Place: outcome.Stderr}, {Place: outcome.File, Path: "a"}, {Place: outcome.File, Path: "b"},
}

// modelPart is what one part holds. The zero modelPart is an absent part; a stream is never absent.
type modelPart struct {
	present bool
	form    outcome.Form
	exec    bool
	text    string
}

// unique in a text is replaced in each run by a number that no other run has.
const unique = "#"

func (c modelPart) String() string {
	switch {
	case !c.present:
		return "absent"
	case c.form == outcome.Symlink:
		return "→" + c.text
	case c.exec:
		return c.text + "*"
	}
	return fmt.Sprintf("%q", c.text)
}

// face is one way in which a modelled tool treats a case: an ending and the parts.
type face struct {
	ending regress.Ending
	parts  [len(modelParts)]modelPart
}

func (f face) String() string { return fmt.Sprint(f.ending, f.parts) }

// resolved returns the face with its own number in all texts.
func (f face) resolved(number int) face {
	for i := range f.parts {
		f.parts[i].text = strings.ReplaceAll(f.parts[i].text, unique, fmt.Sprint(number))
	}
	return f
}

// result is a resolved face as an executor returns it.
func (f face) result(lane int) *exec.Result {
	o := outcome.Outcome{Ending: f.ending}
	var contents []exec.Content
	for i, c := range f.parts {
		if !c.present {
			continue
		}
		text := []byte(c.text)
		o.Parts = append(o.Parts, outcome.Part{Key: modelParts[i], Form: c.form, Exec: c.exec, Size: int64(len(text)), Digest: outcome.Of(text)})
		contents = append(contents, exec.Content{Key: modelParts[i], Bytes: text})
	}
	return exec.NewResult(o, outcome.Cost{CPU: 1e6, Wall: 1e6, PeakRSS: 4096}, lane, contents, nil)
}

var digits = regexp.MustCompile("[0-9]+")

// digitsRule is a rewrite that makes numbers equal.
const digitsRule = "s/[0-9]+/N/"

// ignoredPart is the index of the part that a round may ignore, and ignoredGlob its pattern.
const (
	ignoredPart = len(modelParts) - 1
	ignoredGlob = "b"
)

// comparing is how the parts of a round compare.
type comparing struct {
	rule    bool // digitsRule is applied
	ignores bool // ignoredGlob is ignored
}

// compared is what a check compares of a face: of a run that a limit ended the ending alone.
func (f face) compared(how comparing) face {
	if f.ending.Partial() {
		return face{ending: f.ending}
	}
	if how.ignores {
		f.parts[ignoredPart] = modelPart{}
	}
	for i, c := range f.parts {
		if how.rule && c.form == outcome.Regular {
			f.parts[i].text = digits.ReplaceAllString(c.text, "N")
		}
	}
	return f
}

// conduct is how a tool treats a case run by run: the faces in the order of turns, again and
// again. One face in all turns, without a unique number, is a deterministic conduct.
type conduct struct {
	faces []face
	turns []int
}

func (c conduct) face(turn int) face { return c.faces[c.turns[turn%len(c.turns)]] }

// only returns the face of a deterministic conduct.
func (c conduct) only() (face, bool) {
	f := c.face(0)
	for i := range c.turns {
		if c.face(i) != f {
			return face{}, false
		}
	}
	for _, p := range f.parts {
		if strings.Contains(p.text, unique) {
			return face{}, false
		}
	}
	return f, true
}

func (c conduct) String() string {
	var b strings.Builder
	for i := range c.turns {
		fmt.Fprintf(&b, " %v", c.face(i))
	}
	return b.String()
}

// model is a modelled tool: its conduct on each case.
type model struct {
	name  string
	cases map[string]conduct
}

// conduct returns the conduct on a case, also on one that was added to the corpus later.
func (t *model) conduct(name string) conduct {
	if c, known := t.cases[name]; known {
		return c
	}
	return conduct{[]face{{parts: [len(modelParts)]modelPart{{present: true, text: "added\n"}, {present: true}}}}, []int{0}}
}

var (
	modelEndings = []regress.Ending{
		{}, {Code: 1}, {Code: 2}, {Kind: regress.Signalled, Code: 11}, {Kind: regress.Signalled, Code: 6},
		{Kind: regress.TimedOut}, {Kind: regress.OutOfMemory}, {Kind: regress.OutputLimit},
	}
	modelTexts = []string{"right\n", "wrong\n", "", "at " + unique + "\n", "right at " + unique + "\n", framed("right"), framed("wrong")}
)

// framed is a text in which one of six lines varies, and another one says whether it is right.
func framed(word string) string {
	return "this\nis " + word + "\nin\nrun\n" + unique + "\n" + "of it\n"
}

// frame returns a text without its number.
func frame(text string) string { return digits.ReplaceAllString(text, "N") }

// drawFace draws the face of a tool that works, as most do.
func drawFace(t *rapid.T) face {
	f := face{}
	for i := range f.parts {
		f.parts[i] = modelPart{present: true, text: modelTexts[0]}
	}
	f.parts[1].text = ""
	return drawChanges(t, f, 0)
}

// drawChanges draws a face that differs from f in some aspects, at least in so many draws.
func drawChanges(t *rapid.T, f face, least int) face {
	for range rapid.IntRange(least, 2).Draw(t, "changes") {
		at := rapid.IntRange(-1, len(f.parts)-1).Draw(t, "part")
		if at < 0 {
			f.ending = rapid.SampledFrom(modelEndings).Draw(t, "ending")
			continue
		}
		f.parts[at] = drawPart(t, modelParts[at].Place == outcome.File)
	}
	return f
}

func drawPart(t *rapid.T, file bool) modelPart {
	text := rapid.SampledFrom(modelTexts).Draw(t, "text")
	if !file {
		return modelPart{present: true, text: text}
	}
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0, 1, 2:
		return modelPart{}
	case 3:
		return modelPart{present: true, text: "a", form: outcome.Symlink}
	case 4:
		return modelPart{present: true, text: text, exec: true}
	}
	return modelPart{present: true, text: text}
}

// drawConduct draws a conduct around a face, deterministic in two of three draws.
func drawConduct(t *rapid.T, base face) conduct {
	c := conduct{faces: []face{base}, turns: []int{0}}
	if rapid.IntRange(0, 2).Draw(t, "random") < 2 {
		return c
	}
	for range rapid.IntRange(1, 2).Draw(t, "more faces") {
		c.faces = append(c.faces, drawChanges(t, base, 1))
	}
	c.turns = rapid.SliceOfN(rapid.IntRange(0, len(c.faces)-1), 1, 5).Draw(t, "turns")
	return c
}

// drawTool draws a tool of its own.
func drawTool(t *rapid.T, name string, cases []string) *model {
	made := &model{name, map[string]conduct{}}
	for _, c := range cases {
		made.cases[c] = drawConduct(t, drawFace(t))
	}
	return made
}

// drawCandidate draws a tool that treats most cases as another does.
func drawCandidate(t *rapid.T, name string, of *model, cases []string) *model {
	made := &model{name, map[string]conduct{}}
	for _, c := range cases {
		was := of.conduct(c)
		switch rapid.IntRange(0, 5).Draw(t, "candidate") {
		case 0, 1:
			made.cases[c] = was
		case 2: // other turns of the same faces, and perhaps another
			made.cases[c] = drawConduct(t, was.faces[0])
		case 3: // all faces are wrong, each in its way
			var faces []face
			for _, f := range was.faces {
				faces = append(faces, drawChanges(t, f, 1))
			}
			made.cases[c] = conduct{faces, was.turns}
		default:
			made.cases[c] = drawConduct(t, drawChanges(t, was.faces[0], 1))
		}
	}
	return made
}
