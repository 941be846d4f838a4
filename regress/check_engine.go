package regress

import (
	"slices"

	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// noteOtherTool tells that what showed that the recorded command runs on an engine says
// something else now: on workers that others look after nobody may know of it. Where
// another command was given that is no news.
func (c *checking) noteOtherTool(now golden.Meta) {
	was, none := c.recorded, outcome.Digest{}
	if was.Preflight == none || now.Preflight == none || was.Preflight == now.Preflight {
		return
	}
	if slices.EqualFunc(wordsOf(was.Command), wordsOf(now.Command), slices.Equal) {
		c.note("the preflight gives something else than it did for the golden: the tool there is another than the one that recorded it, or --preflight is")
	}
}
