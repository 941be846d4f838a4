// Package cause groups the differences of many cases by cause. An edit is one replacement in one case,
// byte for byte. A pattern is what similar edits have in common, such as "a cast before a call". A cause
// is a set of patterns that a person decides on at once. Its signature is a digest, the same from run to run.
// A family is a set of causes that are alike, or in nearly the same cases.
// Input: both sides of each case. Output: Found, with the causes and their cases.
//
// Edits are exact: applied to the old output, they produce the new one (Replay).
//
// It is pure: no disk, clock, network or process. It must not judge: the caller reports that a case
// differs, and how it ended.
package cause

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/regress"
	"muster/regress/internal/cause/edit"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/outcome"
)

// A Case is a case that differs. Add and Explain read its contents, and do not keep them.
type Case struct {
	Name     string
	Size     int64 // of its source, in bytes
	Old, Now regress.Ending
	Parts    []Part // those that differ, by key
	// The last messages of the tool: its standard error, or its standard output if that is empty.
	// Needed only if the endings differ.
	OldMessages, NowMessages []byte
}

// A Part is one part that differs.
type Part struct {
	Key              outcome.Key
	Old, Now         *outcome.Part // nil on the side that lacks it
	OldText, NowText []byte        // the contents after rewrites
}

// Kind is the kind of difference that a cause makes.
type Kind string

// The kinds, a closed set.
const (
	Edit      Kind = "edit"      // of a text
	Failing   Kind = "failing"   // newly failing, by its first error
	Passing   Kind = "passing"   // newly passing, by the error that is gone
	Ended     Kind = "ended"     // a different ending: by a signal, a limit, another status
	Binary    Kind = "binary"    // contents that are not text
	File      Kind = "file"      // a file that is new or gone, or has another form
	Rewritten Kind = "rewritten" // too much changed to separate causes
	Other     Kind = "other"     // rare edits, folded into one
)

// A Cause is one way in which cases differ.
type Cause struct {
	ID        string   `json:"id"`        // G1, G2 … by the number of cases
	Signature string   `json:"signature"` // the same in every run that shows the cause
	Name      string   `json:"name"`      // for people: "ll" → "LL"
	Kind      Kind     `json:"kind"`
	Family    string   `json:"family,omitempty"` // what it shares with other causes; may be empty
	Cases     int      `json:"cases"`
	Lines     int      `json:"lines"`                   // changed lines of all its cases together
	Sole      int      `json:"sole"`                    // cases that show nothing else
	Example   string   `json:"example" name:"printed"`  // the case that shows it best
	Smallest  string   `json:"smallest" name:"printed"` // the case with the smallest source; cases that show nothing else come first
	Joined    []string `json:"joined,omitempty"`        // names of the changes that it stands for, if they differ, each with its number of places, the most frequent first
	Patterns  []string `json:"patterns"`                // edits are compared with these, see Index
	Folded    []string `json:"folded,omitempty"`        // of a bucket: names of the causes that were folded into it

	FoldedCount int `json:"folded_count,omitempty"` // of a bucket: how many those are; Folded has at most 200

}

// Bucketed returns how many causes a bucket stands for, and 0 for a single cause.
func (c *Cause) Bucketed() int { return max(c.FoldedCount, len(c.Folded)) }

// Span and LiteralEdit are those of package edit, which finds them.
type (
	Span        = edit.Span
	LiteralEdit = edit.LiteralEdit
)

// An Attributed edit is a literal edit with the index of its cause.
type Attributed struct {
	LiteralEdit
	Cause int
}

// PartEdits are the edits of one part of a case. They are in order and do not overlap. Applied to
// the old content, all of them together give the new one. They are empty if a side is not text, or
// if the part has more than 100,000 edits.
type PartEdits struct {
	Key   outcome.Key
	Edits []Attributed
}

// A Member is a case with the causes that it shows: at least one, as indexes in ascending order.
type Member struct {
	Name   string
	Causes []int
	Parts  []PartEdits
}

// Found is the result of an Analysis.
type Found struct {
	Rewritten bool // so much changed that all edits are one cause of that kind; endings have causes of their own
	Causes    []Cause
	Members   []Member // by name
}

// Member returns the case with the given name.
func (f *Found) Member(name string) (*Member, bool) {
	i, known := slices.BinarySearchFunc(f.Members, name, func(m Member, name string) int { return strings.Compare(m.Name, name) })
	if !known {
		return nil, false
	}
	return &f.Members[i], true
}

// encodedVersion is the version of the format that Encode writes.
const encodedVersion = 1

// encodedFound is the stored form of Found. Names are bytes, because JSON strings cannot hold all
// bytes. Edits are packed, because they are many.
type encodedFound struct {
	Version   int             `json:"version"`
	Rewritten bool            `json:"rewritten"`
	Causes    []encodedCause  `json:"causes"`
	Members   []encodedMember `json:"members"`
}

// encodedCause has the names of cases as bytes.
type encodedCause struct {
	Cause
	Example  []byte `json:"example"`
	Smallest []byte `json:"smallest"`
}

type encodedMember struct {
	Name   []byte        `json:"name"`
	Causes []int         `json:"causes"`
	Parts  []encodedPart `json:"parts,omitempty"`
}

type encodedPart struct {
	Place outcome.Place `json:"place"`
	Path  []byte        `json:"path,omitempty"`
	Edits []byte        `json:"edits,omitempty"` // see appendEdits
}

// Encode returns the stored form, which Decode reads.
func (f *Found) Encode() ([]byte, error) {
	e := encodedFound{Version: encodedVersion, Rewritten: f.Rewritten}
	for _, c := range f.Causes {
		e.Causes = append(e.Causes, encodedCause{c, []byte(c.Example), []byte(c.Smallest)})
	}
	for _, m := range f.Members {
		em := encodedMember{Name: []byte(m.Name), Causes: m.Causes}
		for _, p := range m.Parts {
			em.Parts = append(em.Parts, encodedPart{p.Key.Place, []byte(p.Key.Path), appendEdits(nil, p.Edits)})
		}
		e.Members = append(e.Members, em)
	}
	return json.Marshal(e)
}

// Decode reads the output of Encode. It returns an error for damage that it detects.
func Decode(b []byte) (*Found, error) {
	var e encodedFound
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, err
	}
	if e.Version != encodedVersion {
		return nil, fmt.Errorf("causes of version %d, and this muster reads %d", e.Version, encodedVersion)
	}
	f := &Found{Rewritten: e.Rewritten}
	for i, c := range e.Causes {
		if !c.isSound(i) {
			return nil, fmt.Errorf("cause %d is damaged", i+1)
		}
		c.Cause.Example, c.Cause.Smallest = string(c.Example), string(c.Smallest)
		f.Causes = append(f.Causes, c.Cause)
	}
	for _, em := range e.Members {
		m, err := em.member(len(f.Causes))
		if err != nil {
			return nil, err
		}
		if n := len(f.Members); n > 0 && f.Members[n-1].Name >= m.Name {
			return nil, fmt.Errorf("case %d is not in its place", n+1)
		}
		f.Members = append(f.Members, m)
	}
	return f, nil
}

// isSound reports whether a cause can be the i-th one of a result. Later steps rely on it.
func (c *encodedCause) isSound(i int) bool {
	if !slices.Contains([]Kind{Edit, Failing, Passing, Ended, Binary, File, Rewritten, Other}, c.Kind) {
		return false
	}
	if _, err := hex.DecodeString(c.Signature); err != nil || c.ID != "G"+strconv.Itoa(i+1) || c.Cases < 1 {
		return false
	}
	for _, s := range c.Patterns {
		p := pattern.Parse(pattern.UnescapeKey(strings.TrimPrefix(s, "=")))
		if !p.HasSoundSlots(2 * edit.ElementsMax) {
			return false
		}
	}
	return true
}

func (em *encodedMember) member(causes int) (Member, error) {
	m := Member{Name: string(em.Name), Causes: em.Causes}
	for i, c := range m.Causes {
		if c < 0 || c >= causes || i > 0 && m.Causes[i-1] >= c {
			return m, fmt.Errorf("cause %d of %d", c, causes)
		}
	}
	if len(m.Causes) == 0 {
		return m, errors.New("a case without a cause")
	}
	for _, p := range em.Parts {
		edits, err := readEdits(p.Edits, causes)
		if err != nil {
			return m, err
		}
		m.Parts = append(m.Parts, PartEdits{outcome.Key{Place: p.Place, Path: string(p.Path)}, edits})
	}
	return m, nil
}

// appendEdits appends for each edit its distance from the edit before and its length, on both
// sides, and its cause.
func appendEdits(b []byte, edits []Attributed) []byte {
	var old, now int
	for _, e := range edits {
		for _, n := range [...]int{e.Old.From - old, e.Old.To - e.Old.From, e.Now.From - now, e.Now.To - e.Now.From, e.Cause} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		old, now = e.Old.To, e.Now.To
	}
	return b
}

var errEdits = errors.New("the edits are damaged")

func readEdits(b []byte, causes int) (edits []Attributed, err error) {
	var old, now int
	for len(b) > 0 {
		var n [5]int
		for i := range n {
			v, size := binary.Uvarint(b)
			if size <= 0 || v > 1<<40 {
				return nil, errEdits
			}
			n[i], b = int(v), b[size:]
		}
		e := Attributed{Cause: n[4]}
		if e.Cause >= causes {
			return nil, errEdits
		}
		e.Old = edit.Span{From: old + n[0], To: old + n[0] + n[1]}
		e.Now = edit.Span{From: now + n[2], To: now + n[2] + n[3]}
		old, now = e.Old.To, e.Now.To
		edits = append(edits, e)
	}
	return edits, nil
}
