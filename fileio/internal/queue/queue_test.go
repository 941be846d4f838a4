package queue_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/fileio/internal/queue"
)

// Who waits gets what comes in time, or what comes at all if the job has been begun.
func TestWait(t *testing.T) {
	for name, c := range map[string]struct {
		comes, ends, most time.Duration
		begun             bool
		want              error
		after             time.Duration
	}{
		"it comes":                          {comes: 1, ends: 9, after: 1},
		"in time":                           {comes: 1, ends: 9, most: 2, after: 1},
		"too late":                          {comes: 5, ends: 9, most: 2, want: fileio.ErrBusy, after: 2},
		"too late, and begun":               {comes: 5, ends: 9, most: 2, begun: true, after: 5},
		"the context ends":                  {comes: 5, ends: 1, most: 2, want: context.Canceled, after: 1},
		"the context ends, and it is begun": {comes: 5, ends: 1, begun: true, after: 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ready := make(chan int, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(c.comes*time.Second, func() { ready <- 7 })
				time.AfterFunc(c.ends*time.Second, cancel)
				began := time.Now()
				got, err := queue.Wait(ctx, c.most*time.Second, ready, func() bool { return !c.begun })
				if !errors.Is(err, c.want) || (err == nil) != (got == 7) || time.Since(began) != c.after*time.Second {
					t.Errorf("%d, %v after %v", got, err, time.Since(began))
				}
			})
		})
	}
}

func TestCheck(t *testing.T) {
	if n, err := queue.Check(1, 0, 0); err != nil || n < 100 {
		t.Errorf("%d, %v", n, err)
	}
	for _, c := range [][3]int{{0, 0, 1}, {queue.ThreadsMax + 1, 0, 1}, {1, -1, 1}, {1, queue.ThreadsMax + 1, 1}, {1, 0, -1}} {
		if _, err := queue.Check(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v is no error", c)
		}
	}
}
