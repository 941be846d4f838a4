package hole

// A bag counts texts without their order.
type bag struct {
	counts map[string]int
	size   int
}

func newBag(texts []string) bag {
	b := bag{map[string]int{}, len(texts)}
	for _, text := range texts {
		b.counts[text]++
	}
	return b
}

// equals reports whether texts are those of the bag, in any order.
func (b bag) equals(texts []string) bool {
	if len(texts) != b.size {
		return false
	}
	found := make(map[string]int, len(b.counts))
	for _, text := range texts {
		found[text]++
		if found[text] > b.counts[text] {
			return false
		}
	}
	return true
}

// A balance finds out whether two texts have the same items, as both grow.
type balance struct {
	counts map[string]int // of the second text, less those of the first
	off    int            // items with a count other than 0
}

func (b *balance) add(items []string, by int) {
	if b.counts == nil {
		b.counts = map[string]int{}
	}
	for _, item := range items {
		was := b.counts[item]
		b.counts[item] = was + by
		switch {
		case was == 0:
			b.off++
		case was+by == 0:
			b.off--
		}
	}
}
