package fileio

import (
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/btree"
)

// index has the names of all files, in order. Its methods may be called by any number of
// goroutines. It takes some 100 bytes of memory for each name.
//
// Who changes it holds the lock of the name, so that its changes come in the order of those
// of the disk. It may have a name that no file has any more, after an error of the disk, and
// never lacks one.
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

// after returns the names that begin with prefix and come after another name, in order, most
// of them at most.
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
