package main

import (
	"fmt"
	"slices"

	"muster/bench/causes/basic"
)

// A truth compares the causes of changes made at once with those of each change made alone. An
// instance is an edit of a change alone. In the combined run it is sought at the same place,
// because the text before the changes is the same in both.
type truth struct {
	instances int // those that are gone left out
	// Instances within text that another change removes. The combined run cannot have them.
	gone int
	// Instances whose place has an edit of their change's cause. A cause belongs to the change
	// whose instances it meets most often.
	right int
	// Among these, instances whose cause has the same signature as alone.
	same int
	// Edits of the combined run, and those where their change does nothing alone.
	edits, strange int
	// For each change the share that is right, and a case with a wrong instance.
	changes []share
}

// A share is how much of a change is right.
type share struct {
	instances, right int
	wrong            string // such an instance: the case, the byte in its old output, and what its cause is called there
}

// attribute judges the causes of changes that were made at once by the effect of each alone.
func attribute(alone []found, together found) (t truth) {
	votes := make([][]int, len(together.causes)) // by cause and change
	for i := range votes {
		votes[i] = make([]int, len(alone))
	}
	meet(alone, together, func(e *edit, change int, _ *edit) { votes[e.cause][change]++ })
	of := make([]int, len(votes))
	for i, v := range votes {
		for change := range v {
			if v[change] > v[of[i]] {
				of[i] = change
			}
		}
	}
	right, same, known := map[*edit]bool{}, map[*edit]bool{}, map[*edit]bool{}
	gone := takenAway(alone)
	t.gone = len(gone)
	t.instances = meet(alone, together, func(e *edit, change int, instance *edit) {
		if gone[instance] {
			known[e] = true
			return
		}
		if of[e.cause] != change {
			return
		}
		known[e] = true
		right[instance] = true
		if together.causes[e.cause].Signature == alone[change].causes[instance.cause].Signature {
			same[instance] = true
		}
	})
	t.instances -= t.gone
	for _, m := range together.members {
		for _, p := range m.parts {
			t.edits += len(p.edits)
		}
	}
	t.right, t.same, t.strange = len(right), len(same), t.edits-len(known)
	for _, f := range alone {
		t.changes = append(t.changes, shareOf(f, together, right, gone))
	}
	return t
}

// takenAway returns the instances within a range that another change removes.
func takenAway(alone []found) map[*edit]bool {
	gone := map[*edit]bool{}
	for i := range alone {
		removing := found{members: make([]member, len(alone[i].members))}
		for j, m := range alone[i].members {
			removing.members[j] = member{name: m.name, parts: make([]part, len(m.parts))}
			for k, p := range m.parts {
				removed := slices.DeleteFunc(slices.Clone(p.edits), func(e edit) bool { return e.now.from != e.now.to })
				removing.members[j].parts[k] = part{p.place, p.path, removed}
			}
		}
		meet(alone, removing, func(e *edit, change int, instance *edit) {
			if change != i && e.old.from <= instance.old.from && instance.old.to <= e.old.to {
				gone[instance] = true
			}
		})
	}
	return gone
}

// shareOf counts the instances of a change that are right.
func shareOf(alone, together found, right, gone map[*edit]bool) (s share) {
	for _, m := range alone.members {
		for _, p := range m.parts {
			for i := range p.edits {
				if gone[&p.edits[i]] {
					continue
				}
				s.instances++
				if right[&p.edits[i]] {
					s.right++
				} else if s.wrong == "" {
					s.wrong = fmt.Sprintf("%s at byte %d is of %s", m.name, p.edits[i].old.from, together.named(m.name, p.edits[i]))
				}
			}
		}
	}
	return s
}

// named names the cause at an instance's place.
func (f found) named(name string, in edit) string {
	for _, m := range f.members {
		if m.name != name {
			continue
		}
		for _, p := range m.parts {
			for _, e := range p.edits {
				if at(e.old, in.old) {
					return f.causes[e.cause].Name
				}
			}
		}
	}
	return "no cause"
}

// meet calls met for each edit and each instance that it meets, and counts the
// instances.
func meet(alone []found, together found, met func(e *edit, change int, instance *edit)) (instances int) {
	type key struct {
		name, path string
		place      int
	}
	parts := map[key][]edit{}
	for _, m := range together.members {
		for _, p := range m.parts {
			parts[key{m.name, p.path, p.place}] = p.edits
		}
	}
	for change, f := range alone {
		for _, m := range f.members {
			for _, p := range m.parts {
				instances += len(p.edits)
				overlay(parts[key{m.name, p.path, p.place}], p.edits, func(e, in *edit) { met(e, change, in) })
			}
		}
	}
	return instances
}

// overlay calls met for each pair of edits at one place from two ordered lists.
func overlay(edits, instances []edit, met func(e, in *edit)) {
	first := 0
	for i := range instances {
		in := &instances[i]
		for first < len(edits) && edits[first].old.to < in.old.from {
			first++
		}
		for j := first; j < len(edits) && edits[j].old.from <= in.old.to; j++ {
			if at(edits[j].old, in.old) {
				met(&edits[j], in)
			}
		}
	}
}

// at reports whether two spans have bytes in common. An empty span is at its place, which includes
// the ends of the other.
func at(a, b span) bool {
	if a.from == a.to || b.from == b.to {
		return a.from <= b.to && b.from <= a.to
	}
	return a.from < b.to && b.from < a.to
}

func (t truth) sentence(changes []basic.Change) string {
	share := float64(t.right) / float64(max(1, t.instances))
	text := fmt.Sprintf("%d at once: of %d instances %.2f %% are of the cause of the change that they are of alone (limit ≥ %.1f %%: %s); %.2f %% have also the signature that they have alone. Of %d edits %d are where their change does nothing alone.",
		len(changes), t.instances, 100*share, 100*attributed, verdict(share >= attributed), 100*float64(t.same)/float64(max(1, t.instances)), t.edits, t.strange)
	if t.gone > 0 {
		text += fmt.Sprintf(" %d instances more are inside of what another change takes away, and are not counted.", t.gone)
	}
	for i, c := range t.changes {
		if c.right < c.instances {
			text += fmt.Sprintf("\n* %s: %d of %d; %s.", changes[i], c.right, c.instances, c.wrong)
		}
	}
	return text
}
