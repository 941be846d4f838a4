package review

import "slices"

// families are the families of items: of each the one of its cause, unless somebody chose another.
type families struct {
	items     []Item
	byHand    map[string]string // written families, by signature
	moved     map[int]string    // pending families, by item
	regrouped int               // how often families changed
}

// Family returns the family of an item: the one that somebody put it into, or else that of its cause.
func (f *families) Family(item int) string {
	if family, pending := f.moved[item]; pending {
		return family
	}
	return f.writtenFamily(item)
}

func (f *families) writtenFamily(item int) string {
	if family, moved := f.byHand[f.items[item].Signature]; moved && len(f.movable([]int{item})) > 0 {
		return family
	}
	return f.items[item].Family
}

// foldedIn returns the family in which an item is folded, or "".
func (f *families) foldedIn(item int) string {
	if f.items[item].Folded > 0 {
		return ""
	}
	return f.Family(item)
}

// movable returns those items that can be put into a family, each once, in order. Signatures find them
// again in later runs. It leaves out buckets, and items that are no causes.
func (f *families) movable(items []int) []int {
	list := slices.DeleteFunc(slices.Sorted(slices.Values(items)), func(i int) bool { return f.items[i].Signature == "" || f.items[i].Folded > 0 })
	return slices.Compact(list)
}

// Regrouped returns how often families changed since the review began.
func (f *families) Regrouped() int { return f.regrouped }

// movedFamilies returns the families that a commit would write, by ID.
func (f *families) movedFamilies() map[string]string {
	moved := map[string]string{}
	for item, family := range f.moved {
		if family != f.writtenFamily(item) {
			moved[f.items[item].ID] = family
		}
	}
	return moved
}
