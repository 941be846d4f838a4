package fileio

import (
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/btree"
)

// index has the names of all files, in order. Any number of goroutines may call its methods.
// It takes about 100 bytes of memory per name.
//
// A caller that changes the index holds the name's lock, so that the index and the disk change
// in the same order. After a disk error the index may have the name of a deleted file. It
// never lacks the name of a file.
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

// namesAfter returns the first names that begin with prefix and follow name, at most most of
// them.
func (x *index) namesAfter(prefix, name string, most int) (names []string) {
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
