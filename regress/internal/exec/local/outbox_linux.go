package local

import (
	"os"
	"sync/atomic"
)

// outbox is the folder into which one helper puts what its cases leave. It outlives
// the helper while there are results whose contents are in it.
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

func (o *outbox) use() { o.users.Add(1) }

// done ends a use. After the last one the folder is gone.
func (o *outbox) done() {
	if o.users.Add(-1) == 0 {
		_ = removeTree(o.dir) // what stays goes with the lanes' folder
	}
}
