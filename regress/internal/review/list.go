package review

import (
	"regexp"
	"slices"
	"strings"
)

// A list is the items that are shown, and where a reviewer looks. A family is one row, its first item,
// until somebody opens it. A bucket stays a row of its own, because a reviewer must look at it to accept it.
type list struct {
	items []Item
	cases []Case

	filter  string
	open    map[string]bool // families that are not folded
	visible []int           // the items that are shown, in order: of a folded family the first
	members map[int][]int   // of a folded family the items that pass the filter, by the first of them
	cursor  int             // index into visible
	member  int             // index into the item's Members of the case that is shown
}

// Visible returns the indexes of the items that are shown, in order: those that pass the filter,
// with those of a family together. Of a folded family it has only the first. Do not change the slice.
func (l *list) Visible() []int { return l.visible }

// Cursor returns the index of the item under the cursor, and its place in Visible. It returns
// false if no item passes the filter.
func (l *list) Cursor() (item, place int, some bool) {
	if l.cursor >= len(l.visible) {
		return 0, 0, false
	}
	return l.visible[l.cursor], l.cursor, true
}

// Member returns the index of the case that is shown, and its place in the item's Members.
func (l *list) Member() (c, place int, some bool) {
	item, _, some := l.Cursor()
	if !some || l.member >= len(l.items[item].Members) {
		return 0, 0, false
	}
	return l.items[item].Members[l.member], l.member, true
}

// Move moves the cursor by a number of visible items, and stops at the ends.
func (l *list) Move(by int) { l.MoveTo(l.cursor + by) }

// MoveTo moves the cursor to a place in Visible, or to the nearest end.
func (l *list) MoveTo(place int) {
	place = max(0, min(place, len(l.visible)-1))
	if place != l.cursor {
		l.cursor, l.member = place, 0
	}
}

// MoveCase moves to another case of the item, and wraps at the ends.
func (l *list) MoveCase(by int) {
	item, _, some := l.Cursor()
	if !some {
		return
	}
	if n := len(l.items[item].Members); n > 0 {
		l.member = ((l.member+by)%n + n) % n
	}
}

// Filter hides items that do not match a text. The ID, name, kind, family, or the printed name
// of a case must contain the text or match it as a regular expression, regardless of letter
// case. An empty text shows all items. Decisions stay as they are.
func (l *list) Filter(text string) {
	at := -1
	if item, _, some := l.Cursor(); some {
		at = item
	}
	l.filter = text
	match := matcher(text)
	matching := make([]bool, len(l.cases)) // a case may be in many items, but is matched once
	for i := range l.cases {
		matching[i] = match(l.cases[i].Printed)
	}
	var passing []int
	for i := range l.items {
		if l.matches(i, match, matching) {
			passing = append(passing, i)
		}
	}
	l.arrange(passing)
	l.cursor = slices.IndexFunc(l.visible, func(i int) bool { return i == at || slices.Contains(l.members[i], at) })
	if l.cursor < 0 || l.visible[l.cursor] != at {
		l.cursor, l.member = max(0, l.cursor), 0
	}
}

// Filtered returns the latest text of Filter.
func (l *list) Filtered() string { return l.filter }

func (l *list) matches(item int, match func(string) bool, matching []bool) bool {
	it := &l.items[item]
	return match(it.ID) || match(it.Name) || match(it.Kind) || match(it.Family) ||
		slices.ContainsFunc(it.Members, func(c int) bool { return matching[c] })
}

// foldedIn returns the family in which an item is folded, or "".
func (l *list) foldedIn(item int) string {
	if l.items[item].Folded > 0 {
		return ""
	}
	return l.items[item].Family
}

// arrange sets the visible items, from those that pass the filter.
func (l *list) arrange(passing []int) {
	families := map[string][]int{}
	for _, i := range passing {
		families[l.foldedIn(i)] = append(families[l.foldedIn(i)], i)
	}
	l.visible, l.members = nil, map[int][]int{}
	for _, i := range passing {
		family := l.foldedIn(i)
		switch members := families[family]; {
		case family == "" || len(members) == 1:
			l.visible = append(l.visible, i)
		case members[0] != i: // it is with the first one
		case l.open[family]:
			l.visible = append(l.visible, members...)
		default:
			l.visible = append(l.visible, i)
			l.members[i] = members
		}
	}
}

// Under returns the items that a visible one stands for: itself alone, or all of its folded family
// that pass the filter.
func (l *list) Under(item int) []int {
	if members := l.members[item]; members != nil {
		return members
	}
	return []int{item}
}

// Fold folds the family of the item under the cursor, or opens it. It reports whether other items
// that pass the filter are of the family.
func (l *list) Fold() bool {
	item, _, some := l.Cursor()
	if !some {
		return false
	}
	family, before := l.foldedIn(item), len(l.visible)
	if family == "" {
		return false
	}
	l.open[family] = !l.open[family]
	l.Filter(l.filter)
	if len(l.visible) == before {
		l.open[family] = !l.open[family]
	}
	return len(l.visible) != before
}

// FoldAll opens all families if some are folded, and else folds them. It reports whether there are
// families.
func (l *list) FoldAll() bool {
	before, open := len(l.visible), len(l.members) > 0
	for i := range l.items {
		if family := l.foldedIn(i); family != "" {
			l.open[family] = open
		}
	}
	l.Filter(l.filter)
	return len(l.visible) != before
}

// Show shows the items that match a text, see Filter, and folds all families but those in open.
func (l *list) Show(text string, open []string) {
	l.open = map[string]bool{}
	for _, family := range open {
		l.open[family] = true
	}
	l.Filter(text)
}

// matcher returns the predicate of a filter. The filter matches as literal text, and also as a
// regular expression if it is one: "a+b" finds a+b too.
func matcher(text string) func(string) bool {
	if text == "" {
		return func(string) bool { return true }
	}
	lower := strings.ToLower(text)
	if regexp.QuoteMeta(text) == text {
		return func(s string) bool { return strings.Contains(strings.ToLower(s), lower) }
	}
	pattern, err := regexp.Compile("(?i)" + text)
	return func(s string) bool {
		return strings.Contains(strings.ToLower(s), lower) || err == nil && pattern.MatchString(s)
	}
}
