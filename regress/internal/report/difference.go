package report

import (
	"encoding/base64"
	"fmt"
	"html/template"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
	"muster/regress/internal/preview"
)

func colourOf(v regress.Verdict) palette.Style {
	switch v {
	case regress.Identical:
		return palette.Green
	case regress.Changed:
		return palette.Yellow
	case regress.Flaky, regress.DifferedOnce:
		return palette.Purple
	case regress.New, regress.Missing, regress.NewlyPassing:
		return palette.Cyan
	}
	return palette.Red
}

// pagePictures are both sides of a part whose contents are pictures.
type pagePictures struct {
	Part     string
	Group    string // name of the choice between the forms, unique on the page
	Old, Now pagePicture
}

type pagePicture struct {
	Source        template.URL // a PNG that package preview encoded
	Words         string
	Width, Height int
}

// A previewRoom bounds the work and the bytes of a page for contents that are not text.
type previewRoom struct {
	contents int // bytes to decode
	pictures int // bytes of PNGs
	groups   int // pictures so far
}

// Bounds of the previews of a page, and of one part.
const (
	previewContentBytesMax = 256 << 20
	previewPictureBytesMax = 6 << 20
	partPictureBytesMax    = 48 << 10 // on each side
	partPictureSideMax     = 640      // pixels
	partEntriesMax         = 20
	entryNameBytesMax      = 400
	hexLinesMax            = 28
)

// parts returns a difference as the page shows it. An archive has a part for each entry that differs.
func (r *previewRoom) parts(d Difference) []pagePart {
	part := pagePart{Name: name.Print(d.Part), Words: oldToNow(d) + remarkOn(d), Diff: readable.Text(d.Diff)}
	if d.Contents == nil {
		return []pagePart{part}
	}
	old, now, err := d.Contents()
	if err != nil {
		part.Words += ". The contents cannot be read any more."
		return []pagePart{part}
	}
	size := len(old) + len(now)
	if size > r.contents {
		part.Words += ". The page has no room for more binaries."
		return []pagePart{part}
	}
	r.contents -= size
	entries, isArchive := preview.EntriesOf(old, now)
	if !isArchive {
		r.addContent(&part, old, now)
		return []pagePart{part}
	}
	if len(entries) == 0 {
		part.Words += ". " + preview.SameEntries
		r.addContent(&part, old, now)
	}
	list := []pagePart{part}
	for i, e := range entries {
		if i == partEntriesMax && len(entries) > i+1 {
			return append(list, pagePart{Words: readable.Number(len(entries)-i) + " more entries differ"})
		}
		one := pagePart{Name: part.Name + " › " + readable.Clip(name.Print(e.Name), entryNameBytesMax), Words: e.Words()}
		r.addContent(&one, e.Old, e.Now)
		list = append(list, one)
	}
	return list
}

// addContent adds a diff of texts, pictures or hex.
func (r *previewRoom) addContent(part *pagePart, old, now []byte) {
	text, _, isBinary := diff.Unified(old, now, diff.Limits{})
	if !isBinary {
		part.Diff = readable.Text(text)
		return
	}
	if preview.IsPicture(old) && preview.IsPicture(now) && r.addPictures(part, old, now) {
		return
	}
	part.Diff = diff.Hex(old, now, diff.Limits{Lines: hexLinesMax})
	if diff.Rows(part.Diff) == hexLinesMax {
		part.Diff += "… the rest is left out\n"
	}
}

// addPictures adds two pictures while there is room.
func (r *previewRoom) addPictures(part *pagePart, old, now []byte) (added bool) {
	if r.pictures <= 0 {
		part.Words += ". There is no room for more pictures: muster review --web shows them."
		return false
	}
	p := preview.PicturesOf(old, now, partPictureSideMax, partPictureBytesMax)
	if p == nil {
		return false
	}
	size := len(p.Old.PNG) + len(p.Now.PNG)
	r.pictures -= size
	r.groups++
	part.Words += ". " + p.Words()
	part.Pictures = &pagePictures{part.Name, fmt.Sprintf("form-%d", r.groups), pictureOf("old", p.Old), pictureOf("new", p.Now)}
	return true
}

func pictureOf(side string, p *preview.Picture) pagePicture {
	source := "data:image/png;base64," + base64.StdEncoding.EncodeToString(p.PNG)
	return pagePicture{template.URL(source), side + ", " + p.Words(), p.Width, p.Height}
}
