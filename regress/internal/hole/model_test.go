package hole

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A writer writes one line of a run.
type writer func(t *rapid.T) string

// holes have a writer for each class that a single token can have. The texts of two runs nearly
// always differ.
var holes = map[Class]writer{
	Time: func(t *rapid.T) string {
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "time"), 0).UTC().Format(rapid.SampledFrom([]string{time.DateTime, time.RFC3339, time.RFC1123, time.ANSIC}).Draw(t, "layout"))
	},
	Address: func(t *rapid.T) string { return fmt.Sprintf("%#x", rapid.Uint64().Draw(t, "address")) },
	UUID: func(t *rapid.T) string {
		b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "UUID")
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	},
	TempPath: func(t *rapid.T) string {
		return "/tmp/" + rapid.StringMatching(`[a-z0-9A-Z]{6,9}(\.o)?`).Draw(t, "path")
	},
	Duration: func(t *rapid.T) string { return time.Duration(rapid.Int64Range(1, 1e13).Draw(t, "duration")).String() },
	Number:   func(t *rapid.T) string { return fmt.Sprint(rapid.Uint32().Draw(t, "number")) },
}

// A plan is the text of a tool: lines that never vary, and lines with a hole.
type plan struct {
	fixed    []string // the line, or what stands around a hole
	holes    []Class  // Free = the line never varies
	from, to int      // these lines come in another order each time
}

func drawPlan(t *rapid.T) (p plan) {
	classes := slices.Repeat([]Class{Free}, 9)
	for c := range holes {
		classes = append(classes, c)
	}
	slices.Sort(classes)
	word := rapid.StringMatching(`[a-z]{1,3}|\}|;|x = 12;`)
	for range rapid.IntRange(1, 40).Draw(t, "lines") {
		p.fixed = append(p.fixed, word.Draw(t, "line"))
		p.holes = append(p.holes, rapid.SampledFrom(classes).Draw(t, "class"))
	}
	p.from = rapid.IntRange(0, len(p.fixed)).Draw(t, "order from")
	p.to = rapid.IntRange(p.from, min(len(p.fixed), p.from+10)).Draw(t, "order to")
	return p
}

func (p plan) write(t *rapid.T) (lines []string) {
	for i, line := range p.fixed {
		if p.holes[i] != Free {
			line += " (" + holes[p.holes[i]](t) + ") " + line
		}
		lines = append(lines, line+"\n")
	}
	copy(lines[p.from:], rapid.Permutation(slices.Clone(lines[p.from:p.to])).Draw(t, "order"))
	return lines
}

// Every run fits. A change of a line that never varied does not, whatever it is.
func TestChangesOutsideHolesShow(t *testing.T) {
	fresh, holed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		var runs [][]string
		var texts [][]byte
		for range rapid.IntRange(2, 5).Draw(t, "runs") {
			lines := p.write(t)
			runs, texts = append(runs, lines), append(texts, []byte(text(lines)))
		}
		pattern := Find(texts...)
		for _, one := range texts {
			if !pattern.Fits(one) {
				t.Fatalf("a run does not fit:\n%s", one)
			}
		}
		if pattern.Count().IsWhole {
			return
		}
		further := p.write(t)
		holed++
		if pattern.Fits([]byte(text(further))) {
			fresh++
		}
		at := rapid.IntRange(0, len(further)-1).Draw(t, "changed line")
		changed := slices.Clone(further)
		kind := rapid.SampledFrom([]string{"words", "gone", "twice", "more"}).Draw(t, "change")
		switch kind {
		case "words":
			changed[at] = "changed " + changed[at]
		case "gone":
			changed = slices.Delete(changed, at, at+1)
		case "twice":
			changed = slices.Insert(changed, at, changed[at])
		case "more":
			changed = slices.Insert(changed, at, "put in\n")
		}
		now := []byte(text(changed))
		if slices.Contains(pattern.Classes(), Free) {
			return // free text may be anything
		}
		if pattern.Fits(now) {
			t.Fatalf("hidden: %s in line %d\n%s\nas in\n%s", kind, at, now, strings.Join([]string{text(runs[0]), text(runs[1])}, "\nand\n"))
		}
		if string(pattern.Fill(now)) == string(pattern.Marked()) {
			t.Fatalf("no difference is left of\n%s", now)
		}
	})
	t.Logf("%d of %d further runs fit", fresh, holed)
}

// Whatever the texts are, each fits its own pattern, and a filled one keeps what never varies.
func FuzzPattern(f *testing.F) {
	f.Add("a\nb\nc\n", "c\nb\na\n", "a\nd\n")
	f.Add("at 12:00:00 x\ny\nz\n", "at 12:00:01 x\ny\nz\n", "at noon x\ny\n")
	f.Add("a\nb", "a\n", "")
	f.Add("y\nz\n", "y\n\nz", "")
	f.Add("x\n\xff\xfe\nz\n", "x\n\xff\xfd\nz\n", "x\n\xff\xfd\nz")
	f.Fuzz(func(t *testing.T, a, b, now string) {
		p := Find([]byte(a), []byte(b))
		if !p.Fits([]byte(a)) || !p.Fits([]byte(b)) {
			t.Errorf("a run does not fit")
		}
		filled, marked := string(p.Fill([]byte(now))), string(p.Marked())
		if a == b && (p.Fits([]byte(now)) != (a == now || p.Count().IsWhole) || filled != now || marked != a) {
			t.Errorf("a pattern without holes: %q, %q", filled, marked)
		}
		if filled != marked && !p.Count().IsWhole && p.Fits([]byte(now)) && !slices.Contains(p.Classes(), Order) && !slices.Contains(p.Classes(), Free) {
			t.Errorf("%q fits, and is filled to %q, not %q", now, filled, marked)
		}
	})
}
