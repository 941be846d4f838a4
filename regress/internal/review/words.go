package review

import "muster/internal/readable"

// isCause reports whether the item is a cause, and not the cases of one kind without a cause:
// new, missing or flaky ones.
func (it *Item) isCause() bool { return it.Kind != "" }

// Noun returns the noun for all items: causes, or items if some are not causes.
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
