package cause

// bundle returns sets of shapes that are one cause.
func (f *finder) bundle(uses []int) [][]int {
	sets := make([][]int, len(f.shapes))
	for i := range sets {
		sets[i] = []int{i}
	}
	return sets
}
