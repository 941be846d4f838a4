package lane

import (
	"strconv"
	"syscall"
	"testing"
)

// TestNamesMax checks that more than namesMax names are replaced by a walk.
func TestNamesMax(t *testing.T) {
	w := newWatcher()
	defer w.close()
	w.watches[1] = watch{area: work, path: "d"}
	for i := range 3 * namesMax {
		w.recordEvent(&syscall.InotifyEvent{Wd: 1, Mask: syscall.IN_MODIFY}, strconv.AppendInt(nil, int64(i), 10))
		if asked := w.needsWalk && w.inDoubt && w.broken; asked != (i >= namesMax) {
			t.Fatalf("after %d names: %v", i+1, asked)
		}
		if len(w.names) > namesMax {
			t.Fatalf("%d names are kept", len(w.names))
		}
	}
}
