package report

import "muster/regress/internal/cause"

// memberships knows the causes of a run and their cases, from Group events.
type memberships struct {
	causes []cause.Cause
	of     map[string][]int32 // indexes of causes, by case name
}

func (m *memberships) add(g Group) {
	if m.of == nil {
		m.of = map[string][]int32{}
	}
	for _, name := range g.Members {
		m.of[name] = append(m.of[name], int32(len(m.causes)))
	}
	m.causes = append(m.causes, g.Cause)
}

// ids returns the IDs of the causes of a case. It is never nil.
func (m *memberships) ids(caseName string) []string {
	ids := []string{}
	for _, i := range m.of[caseName] {
		ids = append(ids, m.causes[i].ID)
	}
	return ids
}
