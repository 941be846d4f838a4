package review

import "muster/internal/readable"

// isCause reports whether the item is a cause, and not the cases of one kind that have
// none: new, missing, flaky ones.
func (it *Item) isCause() bool { return it.Kind != "" }

// Noun is what all items together are called: causes, or items where some are no causes.
func (r *Review) Noun() string {
	for i := range r.items {
		if !r.items[i].isCause() {
			return "item"
		}
	}
	return "cause"
}

// Count writes a number of items: "2 causes".
func (r *Review) Count(n int) string { return readable.Count(n, r.Noun()) }
