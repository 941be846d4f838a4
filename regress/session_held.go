package regress

import (
	"context"

	"golang.org/x/sync/semaphore"

	"muster/regress/internal/outcome"
)

// heldMax is how many bytes of outcomes are compared at once, whole in memory, by all that
// work on cases: an engine may have very many cases at once, with large outputs. What is made
// of them, as lines and their causes, takes some times as much.
const heldMax = 128 << 20

// heldBytes counts the bytes of outcomes that are in memory.
type heldBytes struct{ room *semaphore.Weighted }

func newHeldBytes() heldBytes { return heldBytes{semaphore.NewWeighted(heldMax)} }

// hold does what needs so many bytes when there is room; what needs more than there is goes
// alone. It must not be nested. Who waits waits for what ends by itself, also after an
// interrupt.
func (h heldBytes) hold(bytes int64, do func() error) error {
	bytes = min(max(bytes, 0), heldMax)
	if err := h.room.Acquire(context.Background(), bytes); err != nil {
		return err
	}
	defer h.room.Release(bytes)
	return do()
}

// same is sameUnder for what many do at once.
func (s *session) same(old, now opener) outcome.Same {
	under := sameUnder(s.rules, old, now)
	if under == nil {
		return nil
	}
	return func(o, n outcome.Part) (same bool, err error) {
		err = s.held.hold(o.Size+n.Size, func() (err error) {
			same, err = under(o, n)
			return err
		})
		return same, err
	}
}

// bytesOf is how much an outcome has.
func bytesOf(o *outcome.Outcome) (sum int64) {
	for i := range o.Parts {
		sum += o.Parts[i].Size
	}
	return sum
}
