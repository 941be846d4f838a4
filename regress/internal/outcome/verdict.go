package outcome

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is what a check says of one case: a closed set, strongest first.
type Verdict uint8

// The verdicts.
const (
	Environment Verdict = iota // the machine failed, not the tool: never an outcome
	TimedOutNow                // the golden did not end so; likewise the next two
	OutOfMemNow
	OutputLimited
	Crashed // a signal that the golden does not have
	NewlyFailing
	NewlyPassing
	Changed
	Flaky
	New     // not in the golden
	Missing // in the golden, selected, and not in the corpus
	Identical
)

var verdictNames = [...]string{
	"environment", "timed-out", "out-of-memory", "output-limit", "crashed", "newly-failing",
	"newly-passing", "changed", "flaky", "new", "missing", "identical",
}

// Verdicts lists the closed set, strongest first.
func Verdicts() []Verdict {
	all := make([]Verdict, len(verdictNames))
	for i := range all {
		all[i] = Verdict(i)
	}
	return all
}

// String returns the verdict as people read it: "newly-failing".
func (v Verdict) String() string { return verdictNames[v] }

// Key returns the verdict as scripts read it: "newly_failing".
func (v Verdict) Key() string { return strings.ReplaceAll(v.String(), "-", "_") }

// MarshalText writes Key.
func (v Verdict) MarshalText() ([]byte, error) {
	if int(v) >= len(verdictNames) {
		return nil, fmt.Errorf("verdict %d is not known", v)
	}
	return []byte(v.Key()), nil
}

// UnmarshalText reads Key or String.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames[:], strings.ReplaceAll(string(text), "_", "-"))
	if i < 0 {
		return fmt.Errorf("verdict %q is not known", text)
	}
	*v = Verdict(i)
	return nil
}

// Same tells whether two parts whose raw content differs are to be taken as
// the same, for example because they are once rewritten by a rule. A nil Same
// says no.
type Same func(old, now Part) (bool, error)

// Difference is one part in which two outcomes differ. Old or Now is nil when
// the part is only on the other side.
type Difference struct {
	Key
	Old, Now *Part
}

// Comparison is how one outcome stands to another.
type Comparison struct {
	EndingDiffers bool
	Parts         []Difference
}

// Identical reports that nothing that counts differs.
func (c Comparison) Identical() bool { return !c.EndingDiffers && len(c.Parts) == 0 }

// Compare compares now with the golden outcome old. What either marks as flaky
// is left out. One that ended partially is compared by its ending only, and
// differs from every complete one, also where limits are known to end some of
// its runs: of several runs the complete one is kept (see Merge), so now is
// partial only when none was complete.
func Compare(old, now *Outcome, same Same) (Comparison, error) {
	var c Comparison
	if old.Ending.Partial() != now.Ending.Partial() {
		c.EndingDiffers = true
		return c, nil
	}
	c.EndingDiffers = old.Ending != now.Ending && !old.EndingFlaky && !now.EndingFlaky
	if old.Ending.Partial() {
		return c, nil
	}
	err := walk(old, now, func(o, n *Part) error {
		d, err := difference(o, n, same)
		if d != nil {
			c.Parts = append(c.Parts, *d)
		}
		return err
	})
	return c, err
}

func difference(o, n *Part, same Same) (*Difference, error) {
	switch {
	case o == nil:
		return keep(n.Flaky, Difference{n.Key, nil, n}), nil
	case n == nil:
		return keep(o.Flaky, Difference{o.Key, o, nil}), nil
	case o.Flaky || n.Flaky || o.same(*n):
		return nil, nil
	case same == nil || o.Form != Regular || n.Form != Regular || o.Exec != n.Exec:
		return &Difference{o.Key, o, n}, nil
	}
	equal, err := same(*o, *n)
	return keep(equal, Difference{o.Key, o, n}), err
}

func keep(not bool, d Difference) *Difference {
	if not {
		return nil
	}
	return &d
}

// walk calls visit for every key of either outcome, in order.
func walk(a, b *Outcome, visit func(a, b *Part) error) error {
	i, j := 0, 0
	for i < len(a.Parts) || j < len(b.Parts) {
		var order int
		switch {
		case i == len(a.Parts):
			order = 1
		case j == len(b.Parts):
			order = -1
		default:
			order = compareKeys(a.Parts[i].Key, b.Parts[j].Key)
		}
		var pa, pb *Part
		if order <= 0 {
			pa = &a.Parts[i]
			i++
		}
		if order >= 0 {
			pb = &b.Parts[j]
			j++
		}
		if err := visit(pa, pb); err != nil {
			return err
		}
	}
	return nil
}

// Judge returns the verdict on now, given how it compares with the golden
// outcome old. It knows nothing of flakiness: that takes further runs.
func Judge(old, now *Outcome, c Comparison) Verdict {
	if c.Identical() {
		return Identical
	}
	if !c.EndingDiffers {
		return Changed
	}
	switch now.Ending.Kind {
	case TimedOut:
		return TimedOutNow
	case OutOfMemory:
		return OutOfMemNow
	case OutputLimit:
		return OutputLimited
	case Signalled:
		return Crashed
	}
	switch {
	case old.Ending.Success():
		return NewlyFailing
	case now.Ending.Success():
		return NewlyPassing
	}
	return Changed
}

// Merged says what Merge did.
type Merged uint8

// What it may have done, a closed set.
const (
	Nothing  Merged = iota // the runs were the same
	Marked                 // what differs is marked as flaky
	Replaced               // o is again now, with its contents: it ended by itself, and o had not
)

// Merge takes into o what again, a second run of the same case with the same
// tool, shows: every part, and the ending, in which they differ is marked as
// flaky. Parts that only the second run left are added, marked and without
// content, so that a later run that leaves them is not taken as changed. A
// partial outcome, which could not be compared, gives way to a complete one,
// and that one's ending counts.
func Merge(o, again *Outcome, same Same) (Merged, error) {
	switch wasPartial, isPartial := o.Ending.Partial(), again.Ending.Partial(); {
	case wasPartial && !isPartial:
		*o = Outcome{Ending: again.Ending, ByStatus: again.ByStatus, Cut: true, Parts: slices.Clone(again.Parts)}
		return Replaced, nil
	case isPartial && !wasPartial && o.Cut:
		return Nothing, nil
	case isPartial && !wasPartial:
		o.Cut = true
		return Marked, nil
	}
	c, err := Compare(o, again, same)
	if err != nil || c.Identical() {
		return Nothing, err
	}
	o.EndingFlaky = o.EndingFlaky || c.EndingDiffers
	for _, d := range c.Parts {
		if d.Old != nil {
			d.Old.Flaky = true
		}
	}
	for _, d := range c.Parts { // not before: the differences point into o.Parts
		if d.Old == nil {
			o.addFlaky(*d.Now)
		}
	}
	o.Sort()
	return Marked, nil
}

// addFlaky adds a part that some other run left.
func (o *Outcome) addFlaky(p Part) {
	o.Parts = append(o.Parts, Part{Key: p.Key, Form: p.Form, Flaky: true})
}

// KeepFlaky marks in o, which takes the place of old in a golden, what old had
// marked: that a part differs from run to run seldom ends with a change of the
// tool, and where it did, a new record finds out.
func (o *Outcome) KeepFlaky(old *Outcome) {
	if o.Ending.Partial() || old.Ending.Partial() {
		return
	}
	o.EndingFlaky = o.EndingFlaky || old.EndingFlaky
	o.Cut = o.Cut || old.Cut
	for _, p := range old.Parts {
		if !p.Flaky {
			continue
		}
		at, found := o.find(p.Key)
		if found {
			o.Parts[at].Flaky = true
		} else {
			o.addFlaky(p)
			o.Sort()
		}
	}
}

// KnownFlaky reports whether all that o has marked is marked in old, too.
func (o *Outcome) KnownFlaky(old *Outcome) bool {
	if o.EndingFlaky && !old.EndingFlaky || o.Cut && !old.Cut {
		return false
	}
	for _, p := range o.Parts {
		if was, _ := old.Part(p.Key); p.Flaky && !was.Flaky {
			return false
		}
	}
	return true
}
