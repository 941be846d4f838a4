package local

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestOutboxes: that of a helper which is replaced is gone as soon as nobody needs what
// is in it.
func TestOutboxes(t *testing.T) {
	r := newRig(t, usual(t), plainly)
	boxes := func(want int) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(r.crew.base.dir, "*.out*"))
		if must(t, err); len(found) != want {
			t.Errorf("%q, want %d of them", found, want)
		}
	}
	big, err := r.try("one.c", "head -c 100000 /dev/zero")
	must(t, err)
	flag := filepath.Join(t.TempDir(), "flag")
	die := "[ -e %s ] && exit 0; : > %[1]s; kill -KILL $PPID; exec sleep 86400"
	for i := range 3 {
		r.want(r.run("next.c", fmt.Sprintf(die, fmt.Sprint(flag, i))), "exit 0")
	}
	boxes(2)
	r.want(r.tell(big), "exit 0", "stdout "+brief(make([]byte, 100000)))
	big.Release()
	boxes(1)
}
