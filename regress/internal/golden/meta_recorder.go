package golden

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"muster/regress/internal/outcome"
)

// Recorder describes what recorded a golden: the command whose cost a check compares with.
type Recorder struct {
	Command          []Command      `json:"command"`
	Executable       string         `json:"executable"` // path of the default command's executable
	ExecutableDigest outcome.Digest `json:"executable_digest"`
	Shell            bool           `json:"shell"` // how it was started
	Stdin            bool           `json:"stdin"`
	Created          time.Time      `json:"created"`
	Moved            time.Time      `json:"moved"` // when the last accept changed the command
}

// Recorder returns what recorded the golden, even after an accept changed the command.
func (m Meta) Recorder() Recorder {
	if m.Reference != nil {
		return *m.Reference
	}
	return Recorder{
		Command: m.Command, Executable: m.Executable, ExecutableDigest: m.ExecutableDigest,
		Shell: m.Flags["--shell"] != "", Stdin: m.Flags["--stdin"] != "", Created: m.Created,
	}
}

// Selection is the choice of cases that a record ran. The zero value selects all cases. The names
// of the chosen cases are those of the golden's records.
type Selection struct {
	Globs     []string `json:"globs"`
	Filters   []string `json:"filters"`
	Partition string   `json:"partition"`
	Sample    int      `json:"sample"`

	later laterFields
}

// Everything reports whether all cases were selected.
func (s Selection) Everything() bool {
	return len(s.Globs) == 0 && len(s.Filters) == 0 && s.Partition == "" && s.Sample == 0 && s.later == nil
}

// Rule is the rule of an accepted cause. It is about outcomes that are older than the rule.
type Rule struct {
	Number    int             `json:"number"`    // R1 has 1; the number of a revoked rule is not used again
	Cause     string          `json:"cause"`     // the name of the cause
	Signature string          `json:"signature"` // of the cause
	Run       string          `json:"run"`       // ID of the run that the rule was learned in
	Author    string          `json:"author"`    // who accepted the cause
	At        time.Time       `json:"at"`
	Reason    string          `json:"reason"`
	Body      json.RawMessage `json:"body"` // as package rule encodes it; not checked here

	later laterFields
}

// rulesMax bounds the rules of a golden. The newest ones are kept.
const rulesMax = 64

// newest returns the rules that a golden keeps. No rules are nil, so that equal goldens have equal bytes.
func newest(list []Rule) []Rule {
	return append([]Rule(nil), list[max(0, len(list)-rulesMax):]...)
}

// ID returns the name of a rule: R3.
func (r Rule) ID() string { return "R" + strconv.Itoa(r.Number) }

// Covers reports whether a rule is about an outcome that became part of the golden at a time.
func (r Rule) Covers(since time.Time) bool { return r.IsDated() && since.Before(r.At) }

// IsDated reports whether outcomes can be newer than a rule. The year 9999 is the last one that a meta can have.
func (r Rule) IsDated() bool { return r.At.Year() < 9999 }

// AddRule adds a rule under the next free number.
func (m *Meta) AddRule(r Rule) {
	for _, other := range m.Rules {
		m.RulesMade = max(m.RulesMade, other.Number)
	}
	m.RulesMade = max(0, m.RulesMade) + 1
	r.Number = m.RulesMade
	m.keepRule(r)
}

func (m *Meta) keepRule(r Rule) {
	m.Rules = newest(append(slices.Clip(m.Rules), r))
}

// Same reports whether two rules come from the same accept and cause.
func (r Rule) Same(other Rule) bool {
	return r.Run == other.Run && r.Signature == other.Signature && r.At.Equal(other.At) && r.Author == other.Author
}

// Revoke removes the rules with an ID, and returns the last one. It returns false if there is none. A foreign golden may
// have several of one number.
func (m *Meta) Revoke(id string) (revoked Rule, known bool) {
	m.Rules = newest(slices.DeleteFunc(slices.Clone(m.Rules), func(r Rule) bool {
		if r.ID() != id {
			return false
		}
		revoked, known = r, true
		r.Body = nil
		m.remember(r)
		return true
	}))
	return revoked, known
}

func (m *Meta) remember(revoked Rule) {
	m.Revoked = newest(append(slices.Clip(m.Revoked), revoked))
}

// JoinRules adds the rules of another golden that m lacks, unless either golden has revoked them. A rule keeps its
// number if m never had a rule of that number. Numbers that either golden has used are not used again.
func (m *Meta) JoinRules(other Meta) {
	for _, r := range other.Revoked {
		if !slices.ContainsFunc(m.Revoked, r.Same) {
			m.remember(r)
		}
	}
	isRevoked := func(r Rule) bool { return slices.ContainsFunc(m.Revoked, r.Same) }
	m.Rules = newest(slices.DeleteFunc(slices.Clone(m.Rules), isRevoked))
	own := m.RulesMade
	m.RulesMade = max(own, other.RulesMade)
	for _, r := range other.Rules {
		switch {
		case isRevoked(r), slices.ContainsFunc(m.Rules, r.Same):
		case r.Number > own:
			m.keepRule(r)
		default:
			m.AddRule(r)
		}
	}
}

// Since returns when an outcome became part of the golden, by its Record.Origin.
func (m Meta) Since(origin int) time.Time {
	if origin == 0 {
		return m.Created
	}
	return m.Accepts[origin-1].At
}
