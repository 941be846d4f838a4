package regress

import (
	"fmt"

	"pgregory.net/rapid"

	"muster/regress/internal/outcome"
)

// shards checks the parts of the corpus apart: their verdicts together are those of the whole.
func (r *round) shards() {
	parts := rapid.IntRange(2, 3).Draw(r.T, "parts")
	all := newChain()
	all.last = &attempt{verdicts: map[string]outcome.Verdict{}}
	for k := range parts {
		o := r.o
		o.Select.Partition = fmt.Sprintf("hash:%d/%d", k+1, parts)
		r.Logf("check of part %s", o.Select.Partition)
		c := newChain()
		c.last = r.attempt(r.check, o, undisturbed)
		c.add(c.last, r.rule)
		var names []string
		for _, name := range r.names() {
			if _, judged := c.last.verdicts[name]; judged {
				_, twice := all.last.verdicts[name]
				r.assert(shardsAreWhole, !twice, "%s is in two parts", name)
				names = append(names, name)
				all.last.verdicts[name] = c.last.verdicts[name]
			}
		}
		if len(names) > 0 {
			r.settleCheck(c, names)
		}
	}
	r.assert(shardsAreWhole, len(all.last.verdicts) == len(r.names()), "parts have %v of %v", all.last.verdicts, r.names())
	r.assert(shardsMerge, mergeGoldens != nil && mergeRuns != nil, "muster golden merge and muster merge do not exist")
}

// mergeGoldens and mergeRuns are the seam for "muster golden merge" and "muster merge RUN...".
// Once package regress has them: record each partition into a golden of its own, merge, and
// run the round's checks against that; check each partition with a state of its own, merge
// the runs, and compare with the whole check's summary, results and causes.
var mergeGoldens, mergeRuns func(into string, parts ...string) error
