package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// foundVersion is the version of causes.json in a run's folder that this program reads. The file
// has the causes with their places; events only show which cases have a cause. Other versions are
// refused.
const foundVersion = 1

type found struct {
	rewritten bool
	causes    []cause
	members   []member
}

type cause struct {
	ID        string `json:"id"`
	Signature string `json:"signature"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Family    string `json:"family"`
	Cases     int    `json:"cases"`
	Lines     int    `json:"lines"`
}

type member struct {
	name   string
	causes []int
	parts  []part
}

type part struct {
	place int
	path  string
	edits []edit
}

type span struct{ from, to int }

type edit struct {
	old, now span // bytes
	cause    int
}

// readFound reads the causes of the only run of a state folder.
func readFound(state string) (f found, err error) {
	files, _ := filepath.Glob(filepath.Join(state, "runs", "*", "causes.json"))
	if len(files) != 1 {
		return f, fmt.Errorf("%d runs with causes in %s, and not one", len(files), state)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return f, err
	}
	var sealed struct{ Content json.RawMessage }
	if err := json.Unmarshal(text, &sealed); err != nil {
		return f, err
	}
	return decode(sealed.Content)
}

func decode(text []byte) (f found, err error) {
	var e struct {
		Version   int
		Rewritten bool
		Causes    []cause
		Members   []struct {
			Name   []byte
			Causes []int
			Parts  []struct {
				Place int
				Path  []byte
				Edits []byte
			}
		}
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return f, err
	}
	if e.Version != foundVersion {
		return f, fmt.Errorf("causes.json is of version %d, and this reads %d", e.Version, foundVersion)
	}
	f.rewritten, f.causes = e.Rewritten, e.Causes
	for _, m := range e.Members {
		one := member{name: string(m.Name), causes: m.Causes}
		for _, p := range m.Parts {
			edits, err := readEdits(p.Edits, len(f.causes))
			if err != nil {
				return f, err
			}
			one.parts = append(one.parts, part{p.Place, string(p.Path), edits})
		}
		f.members = append(f.members, one)
	}
	return f, nil
}

var errEdits = errors.New("the edits in causes.json are not what this reads")

// readEdits reads for each edit its distance from the edit before and its length, on both sides,
// and its cause.
func readEdits(b []byte, causes int) (edits []edit, err error) {
	var old, now int
	for len(b) > 0 {
		var n [5]int
		for i := range n {
			v, size := binary.Uvarint(b)
			if size <= 0 {
				return nil, errEdits
			}
			n[i], b = int(v), b[size:]
		}
		e := edit{span{old + n[0], old + n[0] + n[1]}, span{now + n[2], now + n[2] + n[3]}, n[4]}
		if e.cause >= causes {
			return nil, errEdits
		}
		old, now = e.old.to, e.now.to
		edits = append(edits, e)
	}
	return edits, nil
}

// families counts the families. A cause without a family counts as one.
func (f *found) families() (n int) {
	seen := map[string]bool{}
	for _, c := range f.causes {
		if c.Family == "" {
			n++
		} else if !seen[c.Family] {
			seen[c.Family] = true
			n++
		}
	}
	return n
}

// lines counts the changed lines of all causes together.
func (f *found) lines() (n int) {
	for _, c := range f.causes {
		n += c.Lines
	}
	return n
}

// settledBy returns the share of the members whose causes are all among n causes. It chooses these one
// by one: next is always the cause that settles most further members, or else has most of them.
func (f *found) settledBy(n int) float64 {
	chosen := make([]bool, len(f.causes))
	settled := 0
	for range n {
		settles, has := make([]int, len(f.causes)), make([]int, len(f.causes))
		for _, m := range f.members {
			open := slices.DeleteFunc(slices.Clone(m.causes), func(c int) bool { return chosen[c] })
			for _, c := range open {
				has[c]++
			}
			if len(open) == 1 {
				settles[open[0]]++
			}
		}
		best := -1
		for c := range f.causes {
			if !chosen[c] && (best < 0 || settles[c] > settles[best] || settles[c] == settles[best] && has[c] > has[best]) {
				best = c
			}
		}
		if best < 0 {
			break
		}
		chosen[best] = true
		settled += settles[best]
	}
	return float64(settled) / float64(max(1, len(f.members)))
}
