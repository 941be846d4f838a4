package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"muster/internal/readable"
	"muster/regress/internal/name"
	"muster/regress/internal/plaintext"
	"muster/regress/internal/preview"
	"muster/regress/internal/review"
	"muster/regress/internal/review/syntax"
)

// overview is the part of the page that does not change during a review.
type overview struct {
	Run      string        `json:"run"`
	Command  string        `json:"command"`
	Golden   string        `json:"golden"`
	Cases    int           `json:"cases"`
	Reviewer int           `json:"reviewer"` // number of this reviewer, from 1
	Noun     string        `json:"noun"`     // "cause", or "item" if some are not causes
	Modes    []review.Mode `json:"modes"`
	Items    []review.Item `json:"items"`
	State    state         `json:"state"`
}

func (h *house) review(w http.ResponseWriter, _ *http.Request, s *seat) {
	var o overview
	st := s.read(func(d *review.Desk) {
		o = overview{Run: d.Run, Command: d.Command, Golden: d.Golden, Cases: len(d.Cases()), Noun: d.Noun(), Items: d.Items()}
	})
	o.Reviewer, o.Modes, o.State = s.number, review.Modes(), st
	answer(w, o)
}

func (h *house) now(w http.ResponseWriter, _ *http.Request, s *seat) {
	answer(w, s.read(func(*review.Desk) {}))
}

// filter returns a row for each visible item, with all items that it stands for, and their families.
func (h *house) filter(w http.ResponseWriter, r *http.Request, s *seat) {
	var ask struct {
		Filter string
		Open   []string
	}
	if !decode(w, r, &ask) {
		return
	}
	rows, families := [][]int{}, []string{}
	s.read(func(d *review.Desk) {
		d.Show(ask.Filter, ask.Open)
		for _, item := range d.Visible() {
			rows, families = append(rows, d.Under(item)), append(families, d.Family(item))
		}
	})
	answer(w, map[string]any{"rows": rows, "families": families})
}

// A member is a case of an item in a list.
type member struct {
	Name     string `json:"name"`
	Verdict  string `json:"verdict"`
	Promoted bool   `json:"promoted"`
	Place    int    `json:"place"`
}

// membersMax is the number of cases in one list.
const membersMax = 200

// cases lists the cases of an item from a position on.
func (h *house) cases(w http.ResponseWriter, r *http.Request, s *seat) {
	list, total, known := []member{}, 0, false
	from, _ := strconv.Atoi(r.FormValue("from"))
	s.read(func(d *review.Desk) {
		var item int
		if item, known = d.Index(r.FormValue("item")); !known {
			return
		}
		members := d.Items()[item].Members
		total = len(members)
		from = max(0, min(from, total))
		for i, c := range members[from:min(total, from+membersMax)] {
			one := d.Cases()[c]
			list = append(list, member{one.Printed, one.Verdict, one.Promoted, from + i})
		}
	})
	if !known {
		refuse(w, http.StatusNotFound, "there is no such cause")
		return
	}
	answer(w, map[string]any{"cases": list, "total": total})
}

// shownPart is a part after its layout.
type shownPart struct {
	Name  string        `json:"name"`
	Words string        `json:"words"`
	Lines []review.Line `json:"lines"`
	More  bool          `json:"more"` // there may be further lines
	// Both sides, if they are pictures; then there are no lines.
	Old *shownPicture `json:"old,omitempty"`
	Now *shownPicture `json:"now,omitempty"`
}

type shownPicture struct {
	Words  string `json:"words"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	PNG    []byte `json:"png"`
}

type shownCase struct {
	Case     string      `json:"case"`
	Verdict  string      `json:"verdict"`
	Promoted bool        `json:"promoted"`
	Place    int         `json:"place"`
	Total    int         `json:"total"`
	Items    []string    `json:"items"` // IDs of all items that it shows
	Ending   string      `json:"ending"`
	Where    string      `json:"where"`
	Why      string      `json:"why"`
	Parts    []shownPart `json:"parts"`
}

// Bounds of one layout: enough to read, and not so much that a browser slows down.
const (
	linesDefault = 300
	linesMost    = 5000
	columnsMost  = 2000
)

// difference lays out one case of an item.
func (h *house) difference(w http.ResponseWriter, r *http.Request, s *seat) {
	place, _ := strconv.Atoi(r.FormValue("place"))
	var one review.Case
	var load func(context.Context, string) (review.Difference, error)
	shown, known, item := shownCase{Parts: []shownPart{}}, false, 0
	s.read(func(d *review.Desk) {
		if item, known = d.Index(r.FormValue("item")); !known {
			return
		}
		members := d.Items()[item].Members
		if known = place >= 0 && place < len(members); !known {
			return
		}
		one, load = d.Cases()[members[place]], d.Difference
		shown.Place, shown.Total = place, len(members)
		for _, i := range one.Items {
			shown.Items = append(shown.Items, d.Items()[i].ID)
		}
	})
	if !known {
		refuse(w, http.StatusNotFound, "there is no such case")
		return
	}
	// not while the desk is locked, because it reads both outcomes from the disk
	diff, err := load(r.Context(), one.Name)
	if err != nil {
		fail(w, err)
		return
	}
	shown.Case, shown.Verdict, shown.Promoted = one.Printed, one.Verdict, one.Promoted
	shown.Ending, shown.Where, shown.Why = diff.Ending, diff.Where, diff.Why
	layout := layoutFor(r, item)
	room := previewRoom{contentBytesMost, pictureBytesMost}
	parts := room.unpack(diff.Parts)
	syntax.AddTokens(one.Printed, parts)
	for _, p := range parts {
		shown.Parts = append(shown.Parts, room.show(p, layout))
	}
	answer(w, shown)
}

// A previewRoom bounds the work and the bytes of an answer for contents that are not text.
type previewRoom struct {
	contents int // bytes to decode
	pictures int // bytes of PNGs
}

// Bounds of the previews of a case, and of a picture.
const (
	contentBytesMost     = 64 << 20
	pictureBytesMost     = 16 << 20
	onePictureBytesMost  = 2 << 20
	pictureSideMost      = 1600 // pixels
	archiveEntriesMost   = 100
	separatorOfAnArchive = " › "
)

// isPreviewed reports whether a part is not text and within the bounds.
func (r *previewRoom) isPreviewed(p review.Part) bool {
	size := len(p.Old) + len(p.Now)
	if plaintext.Is(p.Old) && plaintext.Is(p.Now) || size > r.contents {
		return false
	}
	r.contents -= size
	return true
}

// unpack adds to each archive its entries that differ, as parts of their own.
func (r *previewRoom) unpack(parts []review.Part) (all []review.Part) {
	for _, p := range parts {
		if p.Old == nil || p.Now == nil || !r.isPreviewed(p) {
			all = append(all, p)
			continue
		}
		entries, isArchive := preview.EntriesOf(p.Old, p.Now)
		switch {
		case !isArchive:
			all = append(all, p)
			continue
		case len(entries) == 0:
			p.Words += ". " + preview.SameEntries
			all = append(all, p)
			continue
		case len(entries) > archiveEntriesMost:
			p.Words += ": " + readable.Number(len(entries)-archiveEntriesMost) + " more entries differ than are shown"
			entries = entries[:archiveEntriesMost]
		}
		all = append(all, review.Part{Name: p.Name, Words: p.Words})
		for _, e := range entries {
			all = append(all, review.Part{Name: p.Name + separatorOfAnArchive + name.Print(e.Name), Words: e.Words(), Old: e.Old, Now: e.Now})
		}
	}
	return all
}

// show lays a part out: two pictures, or lines.
func (r *previewRoom) show(p review.Part, l review.Layout) shownPart {
	part := shownPart{Name: p.Name, Words: p.Words}
	if r.pictures > 0 && r.isPreviewed(p) {
		if both := preview.PicturesOf(p.Old, p.Now, pictureSideMost, onePictureBytesMost); both != nil {
			part.Words += ". " + both.Words()
			part.Old, part.Now = shownPictureOf(both.Old), shownPictureOf(both.Now)
			for _, one := range []*shownPicture{part.Old, part.Now} {
				if one != nil {
					r.pictures -= len(one.PNG)
				}
			}
			return part
		}
	}
	part.Lines = review.Render(p, l)
	part.More = len(part.Lines) >= l.Lines && l.Lines < linesMost
	return part
}

func shownPictureOf(p *preview.Picture) *shownPicture {
	if p == nil {
		return nil
	}
	return &shownPicture{p.Words(), p.Width, p.Height, p.PNG}
}

// layoutFor returns the layout of a request, within bounds.
func layoutFor(r *http.Request, item int) review.Layout {
	l := review.Layout{
		Mode: review.Mode(r.FormValue("mode")), Focus: item, Others: r.FormValue("others") != "",
		Lines: linesDefault, Columns: columnsMost,
	}
	if lines, _ := strconv.Atoi(r.FormValue("lines")); lines != 0 {
		l.Lines = max(1, min(lines, linesMost))
	}
	if !slices.Contains(review.Modes(), l.Mode) {
		l.Mode = review.Unified
	}
	return l
}
