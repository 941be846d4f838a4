// Package rule learns what a cause does to a text. A Rule is a list of productions: what is replaced, with
// holes; what it becomes; and guards, which are facts about its surroundings. A rule is learned from some
// cases of a cause. Applied to the old texts of others it shows whether the change is uniform, and where a
// text like the changed ones was left as it was.
// Input: old texts with their edits, and texts that did not change. Output: rules, and where they match.
//
// It is pure: no disk, clock, network or process. It must not judge: a rule proves that a change is the same
// everywhere, not that it is right.
package rule

import (
	"cmp"
	"math/bits"

	"muster/regress/internal/cause/token"
)

// Trains reports whether rules are learned from a case. They are checked with the others.
func Trains(caseName string) bool { return hashOf(caseName)&1 == 0 }

// Order compares two cases in an order that says nothing about them.
func Order(a, b string) int { return cmp.Or(cmp.Compare(hashOf(a), hashOf(b)), cmp.Compare(a, b)) }

func hashOf(caseName string) uint64 {
	key := uint64(token.KeySeed)
	for i := range len(caseName) {
		key = (key ^ uint64(caseName[i])) * token.KeyPrime
	}
	return bits.Reverse64(join(key, 1))
}
