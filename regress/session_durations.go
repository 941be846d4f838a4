package regress

import (
	"muster/regress/internal/golden"
	"muster/regress/internal/pass"
)

// wallsIn returns how long the selected cases took in a golden.
func (s *session) wallsIn(g *golden.Store) pass.Durations {
	took := make(pass.Durations, len(s.cases))
	for i, e := range s.cases {
		took[i] = g.Wall(e.Name)
	}
	return took
}
