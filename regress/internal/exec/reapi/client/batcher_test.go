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

// Who may wait does so no longer than he says, though a request hangs before him.
func TestBatcherWaitsForNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var working sync.WaitGroup
		hangs, sent := make(chan struct{}), make(chan time.Duration, 1)
		began := time.Now()
		b := batcher[int]{
			send: func(batch []int) {
				if batch[0] == 1 {
					<-hangs
				} else {
					sent <- time.Since(began)
				}
			},
			cost:        func(int) int64 { return 1 },
			room:        4,
			inFlightMax: 2,
			working:     &working,
		}
		b.add(1)
		synctest.Wait()
		b.addWithin(time.Minute, 2)
		<-time.After(time.Hour)
		close(hangs)
		working.Wait()
		if took := <-sent; took != time.Minute {
			t.Errorf("after %v", took)
		}
	})
}
