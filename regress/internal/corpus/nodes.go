package corpus

// nodesInBlock makes blocks of a few hundred KiB.
const nodesInBlock = 4096

// nodes is a list that grows without being copied. So reading a corpus never needs memory for two
// lists.
type nodes [][]node

// add returns the index of n.
func (l *nodes) add(n node) int32 {
	last := len(*l) - 1
	if last < 0 || len((*l)[last]) == nodesInBlock {
		*l = append(*l, nil)
		last++
	}
	(*l)[last] = append((*l)[last], n) // the blocks of a small corpus are small
	return int32(last*nodesInBlock + len((*l)[last]) - 1)
}

// at returns the i-th node. The pointer is valid until the next add.
func (l nodes) at(i int32) *node { return &l[i/nodesInBlock][i%nodesInBlock] }

// all yields the nodes in the order in which they were added.
func (l nodes) all(yield func(*node) bool) {
	for _, block := range l {
		for i := range block {
			if !yield(&block[i]) {
				return
			}
		}
	}
}
