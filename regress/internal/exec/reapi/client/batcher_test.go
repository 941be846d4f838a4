package client

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Who may wait goes with the others that came meanwhile, at the end of the first one's time
// or with one who may not.
func TestBatcherWaitsForCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var working sync.WaitGroup
		var mu sync.Mutex
		var batches [][]int
		var at []time.Duration
		began := time.Now()
		b := batcher[int]{
			send: func(batch []int) {
				mu.Lock()
				defer mu.Unlock()
				batches, at = append(batches, batch), append(at, time.Since(began))
			},
			cost:        func(int) int64 { return 1 },
			room:        4,
			inFlightMax: 1,
			working:     &working,
		}
		b.addWithin(time.Minute, 1)
		<-time.After(time.Second)
		b.addWithin(2*time.Minute, 2)
		working.Wait()
		b.addWithin(time.Minute, 3)
		b.add(4, 5, 6, 7)
		working.Wait()
		b.add(8)
		working.Wait()
		want := [][]int{{1, 2}, {3, 4, 5, 6}, {7}, {8}}
		if !slices.EqualFunc(batches, want, slices.Equal) {
			t.Errorf("requests %v, want %v", batches, want)
		}
		if at[0] != time.Minute || at[1] != time.Minute {
			t.Errorf("after %v", at)
		}
	})
}
