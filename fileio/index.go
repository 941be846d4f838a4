package fileio

import (
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/btree"
)

// index has the names of all files, in order. Any number of goroutines may call its methods.
// It takes some 100 bytes of memory for each name.
//
// A caller that changes it holds the name's lock, so that changes have the same order here
// and on the disk. After an error of the disk the index may have the name of a deleted file.
// It never lacks the name of a file.
type index struct {
	mu    sync.RWMutex
	names btree.Set[string]
}

// fill adds names in any order.
func (x *index) fill(names []string) {
	slices.Sort(names)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range names {
		x.names.Insert(name)
	}
}

func (x *index) add(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.names.Insert(name)
}

func (x *index) remove(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.names.Delete(name)
}

// after returns the first names that begin with prefix and come after name: most names, or
// fewer if there are no more.
func (x *index) after(prefix, name string, most int) (names []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.names.Ascend(max(prefix, name), func(next string) bool {
		if !strings.HasPrefix(next, prefix) || len(names) == most {
			return false
		}
		if next > name {
			names = append(names, next)
		}
		return true
	})
	return names
}
