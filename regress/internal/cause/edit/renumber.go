package edit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// A numbering is how a text numbers the names of one stem, such as io___1, io___2. Its weights are
// the numbers of places where one number stands on the old side and another, or the same, on the new.
type numbering struct {
	weight map[shift]int
	places map[shift][]int // those of edits
}

// A shift is a number of a name on the old side and the one that it has on the new side.
type shift struct{ old, now int }

// matchRenumbered gives one pattern to the numbers of generated names that shifted as if one of the names
// came or went: at least two in a row, in the order that they had. A lone wrong number is none of them,
// nor is a number that is no part of a name: a wrong constant stays a cause of its own.
func (t *text) matchRenumbered() {
	if t.extents != nil {
		return
	}
	all := t.numberings()
	if len(all) == 0 {
		return
	}
	t.countKept(all)
	for stem, n := range all {
		if len(n.weight) > shiftsMax {
			continue
		}
		renumbered := int32(-1)
		for _, p := range shiftsInRow(heaviestChain(n.weight)) {
			if renumbered < 0 {
				renumbered = t.words.Add(pattern.Renumber.Key(stem))
			}
			for _, i := range n.places[p] {
				t.places[i].Pattern, t.places[i].Cut = renumbered, -1
			}
		}
	}
}

// shiftsMax bounds the pairs of numbers of one stem: the chain of hostile ones takes time by their square.
const shiftsMax = 10_000

// shiftsInRow returns the shifts of a chain that have another beside them, by the same amount or by one
// more or less: each name that comes or goes shifts those behind it by one more.
func shiftsInRow(chain []shift) (all []shift) {
	for i, p := range chain {
		for _, k := range [...]int{i - 1, i + 1} {
			if k < 0 || k == len(chain) || p.by() == 0 || chain[k].by() == 0 {
				continue
			}
			if abs(p.by()-chain[k].by()) <= 1 {
				all = append(all, p)
				break
			}
		}
	}
	return all
}

func (s shift) by() int { return s.now - s.old }

// numberings returns the numberings that have edits, by stem.
func (t *text) numberings() map[string]numbering {
	all := map[string]numbering{}
	for i := range t.places {
		p := &t.places[i]
		old, ok := numberAt(t.old, p.Old)
		now, isNumber := numberAt(t.now, p.Now)
		if !ok || !isNumber {
			continue
		}
		stem := stemBefore(t.old, p.Old.From)
		if stem == "" || stem != stemBefore(t.now, p.Now.From) {
			continue
		}
		n, known := all[stem]
		if !known {
			n = numbering{map[shift]int{}, map[shift][]int{}}
			all[stem] = n
		}
		k := shift{old, now}
		n.weight[k]++
		n.places[k] = append(n.places[k], i)
	}
	return all
}

// numberAt returns the whole number that a span is.
func numberAt(text []byte, at Span) (int, bool) {
	if at.To == at.From || at.To-at.From > 9 || token.DigitsEnd(text, at.From, len(text)) != at.To {
		return 0, false
	}
	n, err := strconv.Atoi(string(text[at.From:at.To]))
	return n, err == nil
}

// stemBefore returns the letters that a number follows, or "".
func stemBefore(text []byte, at int) string {
	from := at
	for from > 0 && token.IsLetter(text[from-1]) {
		r, size := utf8.DecodeLastRune(text[:from])
		if token.IsMark(r) {
			break
		}
		if from -= size; at-from > wordMax {
			return ""
		}
	}
	return string(text[from:at])
}

// countKept adds the places where the numbers of names stayed the same.
func (t *text) countKept(all map[string]numbering) {
	next := 0
	for at := 0; at < len(t.old); {
		if !token.IsDigit(t.old[at]) {
			at++
			continue
		}
		number := Span{at, token.DigitsEnd(t.old, at, len(t.old))}
		at = number.To
		for next < len(t.places) && t.places[next].Old.To <= number.From {
			next++
		}
		if next < len(t.places) && t.places[next].Old.From < number.To {
			continue
		}
		if n, ok := numberAt(t.old, number); ok {
			if of, known := all[stemBefore(t.old, number.From)]; known {
				of.weight[shift{n, n}]++
			}
		}
	}
}

// heaviestChain returns the heaviest sequence of pairs in which the old and the new numbers both rise. Of
// those with the same weight it prefers one with more shifts.
func heaviestChain(weight map[shift]int) (chain []shift) {
	list := slices.SortedFunc(maps.Keys(weight), func(x, y shift) int { return cmp.Or(cmp.Compare(x.old, y.old), cmp.Compare(y.now, x.now)) })
	type link struct{ weight, before int }
	links := make([]link, len(list))
	// best has the heaviest links by their new number: both rise.
	type top struct{ now, at int }
	var best []top
	for i, p := range list {
		w := (len(list) + 1) * weight[p]
		if p.by() != 0 {
			w++
		}
		k, _ := slices.BinarySearchFunc(best, p.now, func(t top, now int) int { return cmp.Compare(t.now, now) })
		links[i] = link{w, -1}
		if k > 0 {
			links[i] = link{w + links[best[k-1].at].weight, best[k-1].at}
		}
		end := k
		for end < len(best) && links[best[end].at].weight <= links[i].weight {
			end++
		}
		if end > k || k == len(best) || best[k].now > p.now {
			best = slices.Replace(best, k, end, top{p.now, i})
		}
	}
	if len(best) == 0 {
		return nil
	}
	for i := best[len(best)-1].at; i >= 0; i = links[i].before {
		chain = append(chain, list[i])
	}
	return chain
}
