package regress

import "muster/regress/internal/content"

// sides returns both sides of a case that differed.
func (c *checking) sides(caseName string) (was, is content.Side, err error) {
	old, _, err := c.base.get(caseName)
	if err != nil {
		return was, is, err
	}
	rec, _, err := c.found.Get(caseName)
	return content.Side{Outcome: &old.Outcome, Open: content.Remembering(c.base.content)}, content.KeptSide(&rec.Outcome, content.Remembering(c.found.Content)), err
}

// tellLeaks warns if cases differ by the path of the work folder.
func (c *checking) tellLeaks() {
	if text := c.differences.Leaks.Advice(); text != "" {
		c.warn(text)
	}
}
