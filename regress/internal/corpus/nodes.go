package corpus

// nodesInBlock is a block of a few hundred KiB.
const nodesInBlock = 4096

// nodes is a list that grows without being copied: of a corpus of any size no
// second one is in memory while it is read.
type nodes [][]node

// add returns where n stands now.
func (l *nodes) add(n node) int32 {
	last := len(*l) - 1
	if last < 0 || len((*l)[last]) == nodesInBlock {
		*l = append(*l, nil)
		last++
	}
	(*l)[last] = append((*l)[last], n) // the blocks of a small corpus are small
	return int32(last*nodesInBlock + len((*l)[last]) - 1)
}

// at returns the i-th. It stays where it is only until the next add.
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
