package content

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
)

// However many compare, no more than the bound is in memory at once; what is larger goes alone.
func TestBytesAtOnce(t *testing.T) {
	h := NewComparer(nil)
	var group sync.WaitGroup
	var now atomic.Int64
	for i := range 60 {
		bytes := []int64{heldMax/2 + 1, 10 * heldMax, math.MaxInt64, -1}[i%4]
		counts := min(max(bytes, 0), heldMax)
		group.Go(func() {
			err := h.Hold(bytes, func() error {
				if now.Add(counts) > heldMax {
					t.Errorf("%d bytes at once", now.Load())
				}
				now.Add(-counts)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
