package report

import "muster/regress"

// AddMasked adds the parts of a case that were not compared.
func AddMasked(m *regress.Masked, c Case) {
	if len(c.Masked)+len(c.Ignored) == 0 {
		return
	}
	m.Cases++
	m.Holes.Add(c.Holes)
	m.Parts += len(c.Masked) + len(c.Ignored)
	if len(c.Ignored) > 0 {
		m.Ignored++
		m.IgnoredParts += len(c.Ignored)
	}
	if len(c.Masked) == 0 {
		m.IgnoredAlone++
	} else if c.Ending != nil && c.Ending.Partial() {
		m.CutOff++
		m.CutOffParts += len(c.Masked)
	}
}
