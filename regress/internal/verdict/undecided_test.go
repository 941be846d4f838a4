package verdict

import (
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/pass"
)

// No more cases wait than the room holds. One waits while the next case of the
// pass takes longer, unless the room is full.
func TestWaitingRoom(t *testing.T) {
	due := pass.Durations{5 * time.Second, time.Second, 0}
	first := func(i int) undecidedCase { return undecidedCase{task: pass.Task{Index: i, Entry: &corpus.Entry{}}} }
	next := func(w *waitingRoom, long time.Duration) int {
		f, ok := w.next(long, due)
		if !ok {
			return -1
		}
		return f.task.Index
	}
	var none waitingRoom
	none.add(first(0))
	if got := next(&none, 0); got != -1 {
		t.Errorf("without room case %d waits", got)
	}
	w := waitingRoom{room: 2}
	if got := next(&w, 0); got != -1 {
		t.Errorf("nobody waits, and case %d is next", got)
	}
	w.add(first(1))
	for _, c := range []struct {
		long time.Duration
		want int
	}{{2 * time.Second, -1}, {time.Second, 1}, {0, -1}} {
		if got := next(&w, c.long); got != c.want {
			t.Errorf("before a case of %v: %d, want %d", c.long, got, c.want)
		}
	}
	for i := range 3 {
		w.add(first(2 - i))
	}
	if got := next(&w, time.Hour); got != 2 {
		t.Errorf("a full room: %d is next", got)
	}
	if got := next(&w, time.Hour); got != -1 {
		t.Errorf("a room that is full no more: %d is next", got)
	}
	if got := next(&w, 0); got != 1 || len(w.cases) != 0 {
		t.Errorf("%d is next, %d wait: the third had no room", got, len(w.cases))
	}
}
