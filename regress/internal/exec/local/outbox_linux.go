package local

import (
	"os"
	"sync/atomic"
)

// outbox is the folder for the outputs of one helper's cases. It outlives the helper as long
// as results have contents in it.
type outbox struct {
	dir   string
	users atomic.Int64 // the helper, and such results
}

func newOutbox(dir string) (*outbox, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	o := &outbox{dir: dir}
	o.users.Store(1)
	return o, nil
}

func (o *outbox) retain() { o.users.Add(1) }

// release ends a use. The last one removes the folder.
func (o *outbox) release() {
	if o.users.Add(-1) == 0 {
		_ = removeTree(o.dir) // the rest is removed with the lanes' folder
	}
}
