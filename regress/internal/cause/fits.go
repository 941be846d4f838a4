package cause

import (
	"slices"
	"strings"
)

// masksMax bounds the masks of otherwise equal patterns. A case whose edits the analysis did not
// see is compared with each of them.
const masksMax = 256

// openPatterns are patterns with slots, indexed by the edits that they stand for.
type openPatterns struct {
	list   []pattern
	causes []int
	masks  map[string][]string // by a pattern with slots only: which of its words are literal
	at     map[string][]int    // by a pattern with the slots of one mask
}

func newOpenPatterns() openPatterns {
	return openPatterns{masks: map[string][]string{}, at: map[string][]int{}}
}

func (o *openPatterns) add(p pattern, cause int) {
	bare, mask := p.masked(""), p.mask()
	if !slices.Contains(o.masks[bare], mask) {
		if len(o.masks[bare]) == masksMax {
			return
		}
		o.masks[bare] = append(o.masks[bare], mask)
	}
	key := p.masked(mask)
	o.at[key] = append(o.at[key], len(o.list))
	o.list, o.causes = append(o.list, p), append(o.causes, cause)
}

// causesOf returns the causes of the patterns that stand for p, in the order of the patterns.
func (o *openPatterns) causesOf(p *pattern) (found []int) {
	var at []int
	for _, mask := range o.masks[p.masked("")] {
		for _, n := range o.at[p.masked(mask)] {
			if isShape(&o.list[n], p) {
				at = append(at, n)
			}
		}
	}
	slices.Sort(at)
	for _, n := range at {
		found = append(found, o.causes[n])
	}
	return found
}

// mask returns 1 for each literal word and number of a pattern, and 0 for each slot.
func (p *pattern) mask() string {
	var b strings.Builder
	for _, side := range [...][]piece{p.old, p.now} {
		for _, e := range side {
			switch e.kind {
			case word, number:
				b.WriteByte('1')
			case slot, digits:
				b.WriteByte('0')
			}
		}
	}
	return b.String()
}

// masked writes a pattern without the words and numbers where the mask has no 1.
func (p *pattern) masked(mask string) string {
	var b strings.Builder
	b.WriteString(string(p.sort) + "\t" + p.in)
	n := 0
	for _, side := range [...][]piece{p.old, p.now} {
		b.WriteByte('\t')
		for _, e := range side {
			switch e.kind {
			case word, number, slot, digits:
				if isWord := e.kind == word || e.kind == slot; isWord {
					b.WriteByte(byte(slot))
				} else {
					b.WriteByte(byte(digits))
				}
				if n < len(mask) && mask[n] == '1' {
					b.WriteString(e.text)
				}
				n++
			default:
				b.WriteByte(byte(e.kind))
				b.WriteString(e.text)
			}
			b.WriteByte(' ')
		}
	}
	return b.String()
}
