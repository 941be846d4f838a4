package cause

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"muster/regress/internal/outcome"
)

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
	switch c.Kind {
	case Edit, Failing, Passing, Ended, Binary, File, Rewritten, Other:
	default:
		return false
	}
	if _, err := hex.DecodeString(c.Signature); err != nil || c.ID != "G"+strconv.Itoa(i+1) || c.Cases < 1 {
		return false
	}
	for _, s := range c.Patterns {
		p := parse(unescapeKey(strings.TrimPrefix(s, "=")))
		if !p.hasSoundSlots() {
			return false
		}
	}
	return true
}

// hasSoundSlots reports whether each slot has a valid number, from 1 on.
func (p *pattern) hasSoundSlots() bool {
	for _, side := range [...][]piece{p.old, p.now} {
		for _, e := range side {
			if e.kind != slot && e.kind != digits {
				continue
			}
			if n, err := strconv.Atoi(e.text); err != nil || n < 1 || n > 2*elementsMax || strconv.Itoa(n) != e.text {
				return false
			}
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
		e.Old = Span{old + n[0], old + n[0] + n[1]}
		e.Now = Span{now + n[2], now + n[2] + n[3]}
		old, now = e.Old.To, e.Now.To
		edits = append(edits, e)
	}
	return edits, nil
}
