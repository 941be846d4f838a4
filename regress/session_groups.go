package regress

import (
	"muster/regress/internal/analyse"
	"muster/regress/internal/report"
)

// groups finds the causes of all collected differences, emits them, and keeps them with the run.
func (s *session) groups(sides analyse.SidesOf) error {
	found := s.differences.Causes()
	s.ledger.Summary.Groups = len(found.Causes)
	err := analyse.EmitGroups(found, s.job.Rules, sides, func(g report.Group) { s.events.Emit(g) })
	if err != nil || s.run == nil {
		return err
	}
	encoded, err := found.Encode()
	if err != nil {
		return err
	}
	return s.run.SaveCauses(encoded)
}
