package web

import (
	"net/http"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/name"
	"muster/regress/internal/plaintext"
	"muster/regress/internal/preview"
	"muster/regress/internal/review"
)

// overview is the part of the page that does not change during a review.
type overview struct {
	Run     string        `json:"run"`
	Command string        `json:"command"`
	Golden  string        `json:"golden"`
	Cases   int           `json:"cases"`
	Noun    string        `json:"noun"` // "cause", or "item" if some are not causes
	Modes   []review.Mode `json:"modes"`
	Items   []review.Item `json:"items"`
}

func (s *server) review(visit, struct{}) (any, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	d := s.desk
	return overview{d.Run, d.Command, d.Golden, len(d.Cases()), d.Noun(), review.Modes(), d.Items()}, nil
}

// rows are the visible items, each with all items that it stands for, and their families.
type rows struct {
	Rows     [][]int  `json:"rows"`
	Families []string `json:"families"`
}

func (s *server) filter(_ visit, ask struct {
	Filter string
	Open   []string
}) (any, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	r := rows{[][]int{}, []string{}}
	s.desk.Show(ask.Filter, ask.Open)
	for _, item := range s.desk.Visible() {
		r.Rows, r.Families = append(r.Rows, s.desk.Under(item)), append(r.Families, s.desk.Items()[item].Family)
	}
	return r, nil
}

// A member is a case of an item in a list.
type member struct {
	Name     string `json:"name"`
	Verdict  string `json:"verdict"`
	Promoted bool   `json:"promoted"`
	Place    int    `json:"place"`
}

type memberList struct {
	Cases []member `json:"cases"`
	Total int      `json:"total"`
}

// membersMax is the number of cases in one list.
const membersMax = 200

// cases lists the cases of an item from a position on.
func (s *server) cases(_ visit, ask struct {
	Item string
	From int
}) (any, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	item, known := s.desk.Index(ask.Item)
	if !known {
		return nil, refusal{http.StatusNotFound, "there is no such cause"}
	}
	members := s.desk.Items()[item].Members
	list := memberList{[]member{}, len(members)}
	from := max(0, min(ask.From, len(members)))
	for i, c := range members[from:min(len(members), from+membersMax)] {
		one := s.desk.Cases()[c]
		list.Cases = append(list.Cases, member{one.Printed, one.Verdict, one.Promoted, from + i})
	}
	return list, nil
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

// A wantedCase is the case of an item that a page shows, and its layout.
type wantedCase struct {
	Item   string
	Place  int
	Mode   review.Mode
	Lines  int
	Others bool
}

// layout returns the layout within bounds.
func (a *wantedCase) layout(item int) review.Layout {
	l := review.Layout{Mode: a.Mode, Focus: item, Others: a.Others, Lines: linesDefault, Columns: columnsMost}
	if a.Lines != 0 {
		l.Lines = max(1, min(a.Lines, linesMost))
	}
	if !slices.Contains(review.Modes(), l.Mode) {
		l.Mode = review.Unified
	}
	return l
}

// difference lays out one case of an item.
func (s *server) difference(v visit, ask wantedCase) (any, error) {
	one, item, items, err := s.caseOf(ask)
	if err != nil {
		return nil, err
	}
	// not while the desk is locked, because it reads both outcomes from the disk
	diff, err := s.desk.Difference(v.ctx, one.Name)
	if err != nil {
		return nil, err
	}
	shown := shownCase{
		Case: one.Printed, Verdict: one.Verdict, Promoted: one.Promoted, Items: items,
		Ending: diff.Ending, Where: diff.Where, Why: diff.Why, Parts: []shownPart{},
	}
	room := previewRoom{contentBytesMost, pictureBytesMost}
	for _, p := range room.unpack(diff.Parts) {
		shown.Parts = append(shown.Parts, room.show(p, ask.layout(item)))
	}
	return shown, nil
}

// caseOf returns the wanted case, the index of its item, and the IDs of all items that it shows.
func (s *server) caseOf(ask wantedCase) (one review.Case, item int, items []string, err error) {
	if err := s.lock(); err != nil {
		return one, 0, nil, err
	}
	defer s.mu.Unlock()
	d := s.desk
	item, known := d.Index(ask.Item)
	if !known || ask.Place < 0 || ask.Place >= len(d.Items()[item].Members) {
		return one, 0, nil, refusal{http.StatusNotFound, "there is no such case"}
	}
	one = d.Cases()[d.Items()[item].Members[ask.Place]]
	for _, i := range one.Items {
		items = append(items, d.Items()[i].ID)
	}
	return one, item, items, nil
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
