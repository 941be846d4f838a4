package pass

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func numbered(n int) []Task {
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i].Index = i
	}
	return tasks
}

func indexes(h hand) (list []int) {
	for _, t := range h.tasks {
		list = append(list, t.Index)
	}
	return list
}

// TestQueueHands: in order, what came back first, and fewer towards the end.
func TestQueueHands(t *testing.T) {
	q := newQueue(numbered(20), 2, func(Task) int { return 0 })
	want := func(hand hand, list ...int) {
		t.Helper()
		if !slices.Equal(indexes(hand), list) {
			t.Errorf("%v, want %v", indexes(hand), list)
		}
	}
	first := q.next(8)
	want(first, 0, 1, 2, 3, 4) // a quarter of 20
	want(q.next(1), 5)
	q.giveBack(first, 2)
	want(q.next(2), 2, 3)
	want(q.next(8), 4)
	want(q.next(8), 6, 7, 8)
	want(q.next(8), 9, 10)
	want(q.next(8), 11, 12)
	want(q.next(8), 13)
}

// TestQueueAvoid: a hand is for one lane, and two of them for two.
func TestQueueAvoid(t *testing.T) {
	q := newQueue(numbered(100), 2, func(t Task) int { return t.Index / 3 % 2 })
	first, second := q.next(4), q.next(4)
	q.giveBack(first, 4)
	third := q.next(4)
	for i, want := range [][]int{{0, 1, 2, 6}, {3, 4, 5, 9}, {7, 8, 12, 13}} {
		if got := []hand{first, second, third}[i]; !slices.Equal(indexes(got), want) || got.avoid != i%2 {
			t.Errorf("hand %d: %v avoid %d, want %v", i, indexes(got), got.avoid, want)
		}
	}
}

// TestQueueWaits: who finds nothing waits for what may come back, and no longer.
func TestQueueWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(numbered(4), 1, func(Task) int { return 0 })
		several, alone := q.next(2), []hand{q.next(1), q.next(1)}
		var got hand
		ended := false
		go func() {
			got, ended = q.next(8), true
		}()
		synctest.Wait()
		if ended {
			t.Fatal("it did not wait")
		}
		q.giveBack(several, 1)
		synctest.Wait()
		if !ended || !slices.Equal(indexes(got), []int{1}) {
			t.Errorf("%v, %v, want what came back", indexes(got), ended)
		}
		if len(q.next(8).tasks) > 0 { // though alone is out
			t.Error("there is something left")
		}
		for _, hand := range append(alone, got) {
			q.giveBack(hand, 1)
		}
	})
}

// TestQueueOnce: however hands come back, each task is done once.
func TestQueueOnce(t *testing.T) {
	const n = 5000
	q := newQueue(numbered(n), 4, func(t Task) int { return t.Index % 7 / 6 })
	var mu sync.Mutex
	times := make([]int, n)
	var lanes sync.WaitGroup
	for lane := range 4 {
		lanes.Go(func() {
			for turn := lane; ; turn++ {
				h := q.next(1 + turn%8)
				if len(h.tasks) == 0 {
					return
				}
				ran := 1 + turn%len(h.tasks)
				mu.Lock()
				for _, t := range h.tasks[:ran] {
					times[t.Index]++
				}
				mu.Unlock()
				q.giveBack(h, ran)
			}
		})
	}
	lanes.Wait()
	for i, ran := range times {
		if ran != 1 {
			t.Errorf("task %d ran %d times", i, ran)
		}
	}
}

// TestPace: from one at a time to several when cases are quick, and back at once
// when one is not.
func TestPace(t *testing.T) {
	p := newPace()
	if p.casesThatFit() != 1 {
		t.Errorf("%d before anything is known", p.casesThatFit())
	}
	for range 20 {
		p.add(time.Millisecond)
	}
	if p.casesThatFit() != handMax {
		t.Errorf("%d of 1 ms", p.casesThatFit())
	}
	p.add(time.Second)
	if p.casesThatFit() != 1 {
		t.Errorf("%d after one of a second", p.casesThatFit())
	}
	for range 50 {
		p.add(4 * time.Millisecond)
	}
	if got := p.casesThatFit(); got < 3 || got > 4 {
		t.Errorf("%d of 4 ms, want 3 or 4", got)
	}
}
