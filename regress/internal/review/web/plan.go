package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"muster/regress/internal/review"
)

// A plan describes what a commit would write.
type plan struct {
	Revision  int             `json:"revision"`
	Golden    string          `json:"golden"`
	Kept      int             `json:"kept"`      // number of decisions
	Decisions []plannedChoice `json:"decisions"` // the first decisions
	Promote   int             `json:"promote"`
	Names     []string        `json:"names"`  // the first cases
	Shut      string          `json:"shut"`   // why no case can go into the golden
	Barred    int             `json:"barred"` // number of cases if the golden could be written
	Stay      int             `json:"stay"`
	Waiting   []waiting       `json:"waiting"`
	Waits     int             `json:"waits"` // number of cases in all
	Untouched int             `json:"untouched"`
	Skipped   int             `json:"skipped"` // number of items
	Conflicts []conflict      `json:"conflicts"`
}

type plannedChoice struct {
	ID    string       `json:"id"`
	Name  string       `json:"name"`
	Now   review.State `json:"now"`
	Was   review.State `json:"was"`
	Cases int          `json:"cases"`
}

// waiting is a set of cases that have accepted causes, and the other causes that they wait for.
type waiting struct {
	Cases   int      `json:"cases"`
	For     []string `json:"for"` // IDs
	Example string   `json:"example"`
}

// namesMax bounds the case names of a plan, choicesMax its decisions, and waitingMax its sets
// of causes that cases wait for.
const (
	namesMax   = 200
	choicesMax = 100
	waitingMax = 20
)

func (h *house) plan(w http.ResponseWriter, _ *http.Request, s *seat) {
	p := plan{Decisions: []plannedChoice{}, Names: []string{}, Waiting: []waiting{}}
	st := s.read(func(d *review.Desk) { p.fill(d) })
	p.Revision, p.Conflicts = st.Revision, st.Conflicts
	answer(w, p)
}

func (p *plan) fill(d *review.Desk) {
	changes := d.Changes()
	p.Golden, p.Kept, p.Promote, p.Stay = d.Golden, len(changes.Decisions), len(changes.Promote), changes.Stay
	p.Shut, p.Barred = d.Shut(), changes.Barred
	for _, id := range changes.IDs()[:min(len(changes.Decisions), choicesMax)] {
		item, _ := d.Index(id)
		p.Decisions = append(p.Decisions, plannedChoice{id, d.Items()[item].Name, changes.Decisions[id], changes.Before[id], d.Items()[item].Cases})
	}
	p.Skipped = d.Counts()[review.Skipped]
	by := map[string]*waiting{}
	for _, w := range d.Waiting() {
		p.wait(d, w, by)
	}
	for i, c := range d.Cases() {
		switch {
		case !d.Promotable(i):
			if !c.Promoted {
				p.Untouched++
			}
		case d.Shut() == "" && len(p.Names) < namesMax:
			p.Names = append(p.Names, c.Printed)
		}
	}
	p.Untouched -= p.Waits
	for _, w := range by {
		p.Waiting = append(p.Waiting, *w)
	}
	slices.SortFunc(p.Waiting, func(a, b waiting) int { return cmp.Or(b.Cases-a.Cases, strings.Compare(a.Example, b.Example)) })
	p.Waiting = p.Waiting[:min(len(p.Waiting), waitingMax)]
}

// wait adds a waiting case to the set with the same causes.
func (p *plan) wait(d *review.Desk, w review.Wait, by map[string]*waiting) {
	var ids []string
	for _, item := range w.For {
		ids = append(ids, d.Items()[item].ID)
	}
	key := strings.Join(ids, " ")
	if by[key] == nil {
		by[key] = &waiting{For: ids, Example: d.Cases()[w.Case].Printed}
	}
	by[key].Cases++
	p.Waits++
}
