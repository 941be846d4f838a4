package regress

import (
	"encoding/json"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

// keptRemarks is what a run's summary says of its inputs, kept for a merge of runs. Names and
// paths are bytes, which JSON strings are not.
type keptRemarks struct {
	ToolChanged [][]byte       `json:"tool_changed,omitempty"`
	Settings    []string       `json:"settings,omitempty"`
	Selection   string         `json:"selection,omitempty"`
	NotSampled  int            `json:"not_in_sample,omitempty"`
	Sources     report.Sources `json:"sources,omitzero"` // without names
	Names       [][]byte       `json:"names,omitempty"`
	SharedNames [][]byte       `json:"shared_names,omitempty"`
}

func remarksOf(s *Summary) keptRemarks {
	k := keptRemarks{
		ToolChanged: convert[[]byte](s.ToolChanged), Settings: s.Settings, Selection: s.Selection, NotSampled: s.NotSampled,
		Sources: s.Sources, Names: convert[[]byte](s.Sources.Names), SharedNames: convert[[]byte](s.Sources.SharedNames),
	}
	k.Sources.Names, k.Sources.SharedNames = nil, nil
	return k
}

func convert[To, From string | []byte](list []From) (converted []To) {
	for _, one := range list {
		converted = append(converted, To(one))
	}
	return converted
}

// addRemarks takes into a summary what a part of a check says of its inputs. Parts have other
// cases, and the same shared files and tool.
func addRemarks(s *Summary, p *past) error {
	var k kept
	if err := json.Unmarshal(p.run.Summary, &k); err != nil {
		return fault.Inputf("%s, how run %s ended, is damaged: %w: check again", p.run.File("run.json"), p.run.ID, err)
	}
	r := k.Remarks
	s.ToolChanged = union(s.ToolChanged, convert[string](r.ToolChanged))
	s.Settings = union(s.Settings, r.Settings)
	if s.Selection == "" {
		s.Selection = r.Selection
	}
	s.NotSampled = max(s.NotSampled, r.NotSampled)
	known, changed, names := s.Sources.Known+r.Sources.Known, s.Sources.Changed+r.Sources.Changed, s.Sources.Names
	s.Sources = r.Sources
	s.Sources.Known, s.Sources.Changed = known, changed
	names = union(names, convert[string](r.Names))
	s.Sources.Names = names[:min(len(names), report.SourceNamesMax)]
	s.Sources.SharedNames = convert[string](r.SharedNames)
	return nil
}

// union returns the elements of both lists, in their order, each once.
func union(a, b []string) []string {
	list := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}
