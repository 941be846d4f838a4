package oracle

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/goldens"
	"muster/regress/host"
	"muster/regress/internal/golden"
	"muster/regress/merge"
	"muster/regress/record"
)

// part returns the options of a command on one of some parts, with a state of its own.
func (r *round) part(k, parts int) regress.Options {
	o := r.o
	o.Select.Partition = fmt.Sprintf("hash:%d/%d", k, parts)
	o.Store.State = r.path(fmt.Sprintf("parts/%d", k))
	return o
}

// elsewhere may make the next part that of another machine, whose files hold the same.
func (r *round) elsewhere() {
	if rapid.Bool().Draw(r.T, "elsewhere") {
		r.Logf("  the next part runs elsewhere")
		for _, name := range append(slices.Clone(writtenFiles), "src/"+r.cases[0]) {
			r.must(r.touch(name))
		}
	}
}

// shards checks the parts of the corpus apart and merges the runs: their verdicts together
// are those of the whole, and accept takes the merged run.
func (r *round) shards() {
	parts := rapid.IntRange(2, 3).Draw(r.T, "parts")
	all := newChain()
	all.attempts = 1
	verdicts, unstable := map[string]regress.Verdict{}, map[string]bool{}
	var states []string
	for k := 1; k <= parts; k++ {
		o := r.part(k, parts)
		r.Logf("check of part %s", o.Select.Partition)
		c := newChain()
		c.last = r.attempt(check.Run, o, undisturbed)
		c.add(c.last, r.how)
		if regress.ClassOf(c.last.err) == regress.Empty {
			continue
		}
		r.must(c.last.err)
		for name := range c.last.verdicts {
			_, twice := verdicts[name]
			r.assert(shardsAreWhole, !twice, "%s is in two parts", name)
		}
		maps.Copy(verdicts, c.last.verdicts)
		maps.Copy(unstable, c.last.unstable)
		maps.Copy(all.runs, c.runs)
		maps.Copy(all.noisy, c.noisy)
		states = append(states, o.Store.State)
		r.settleCheck(c, slices.Sorted(maps.Keys(c.last.verdicts)))
		r.namesChanges(c.last)
		r.elsewhere()
	}
	r.assert(shardsAreWhole, len(verdicts) == len(r.names()), "parts have %v of %v", verdicts, r.names())
	if len(states) < 2 {
		return
	}
	o := r.o
	o.Store.State = r.path("parts/merged")
	all.last = r.attempt(func(ctx context.Context, o regress.Options, h host.Host) (regress.Summary, error) {
		return merge.Runs(ctx, o, h, states)
	}, o, undisturbed)
	r.must(all.last.err)
	r.assert(shardsMerge, maps.Equal(all.last.verdicts, verdicts), "merged runs have %v, not %v", all.last.verdicts, verdicts)
	r.assert(shardsMerge, maps.Equal(all.last.unstable, unstable), "merged runs are unstable in %v, not %v", all.last.unstable, unstable)
	r.settleCheck(all, r.names())
	r.namesChanges(all.last)
	r.acceptSome(all, o.Store.State)
}

// recordShards records the parts of the corpus apart, and merges them into the golden of the
// round. It does nothing where a part has no cases.
func (r *round) recordShards() bool {
	parts := rapid.IntRange(2, 3).Draw(r.T, "recorded parts")
	c := newChain()
	c.attempts = 1
	said := &attempt{verdicts: map[string]regress.Verdict{}}
	var parted []string
	for k := 1; k <= parts; k++ {
		o := r.part(k, parts)
		o.Store.Golden = o.Store.State + ".golden"
		r.Logf("record of part %s", o.Select.Partition)
		a := r.attempt(record.Run, o, undisturbed)
		if regress.ClassOf(a.err) == regress.Empty {
			return false
		}
		r.must(a.err)
		c.add(a, r.how)
		r.elsewhere()
		maps.Copy(said.verdicts, a.verdicts)
		parted = append(parted, o.Store.Golden)
	}
	c.attempts, c.last = 1, said
	r.must(goldens.Merge(r.Context(), r.o, silent(), r.o.Store.Golden, "", parted))
	r.settleRecord(c)
	r.asWhole()
	return true
}

// asWhole asserts that the golden equals one of the whole corpus: in the choice of cases,
// their sources, and what they leave where that does not vary.
func (r *round) asWhole() {
	o := r.o
	o.Store.Golden, o.Store.State = r.path("parts/whole.golden"), r.path("parts/whole")
	r.must(r.attempt(record.Run, o, undisturbed).err)
	merged, whole := r.opened(r.o.Store.Golden), r.opened(o.Store.Golden)
	defer merged.Close()
	defer whole.Close()
	is, was := merged.Meta().Selection, whole.Meta().Selection
	r.assert(shardsMerge, fmt.Sprint(is) == fmt.Sprint(was), "the merged golden selects %+v, the whole %+v", is, was)
	names := slices.Sorted(merged.Names())
	r.assert(shardsMerge, slices.Equal(names, slices.Sorted(whole.Names())), "the merged golden has the cases %q", names)
	for _, name := range names {
		r.assert(shardsMerge, merged.Source(name) == whole.Source(name), "%s has another source", name)
		is, _ := merged.OutcomeDigest(name)
		was, _ := whole.OutcomeDigest(name)
		_, known := r.world.tool.conduct(name).only()
		r.assert(shardsMerge, !known || is == was, "%s has another outcome", name)
	}
}

func (r *round) opened(path string) *golden.Store {
	s, err := golden.Open(path)
	r.must(err)
	return s
}
