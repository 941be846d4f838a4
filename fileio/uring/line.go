//go:build linux

package uring

import (
	"context"
	"sync/atomic"
	"time"

	"muster/fileio"
	"muster/fileio/internal/queue"
)

// A line is places for jobs of one kind, and those who wait for one. They get them in the
// order in which they came, for that is how a channel serves.
type line struct {
	free       chan *place
	waitingMax int64
	waiting    atomic.Int64
}

func newLine(places, waitingMax int) *line {
	return &line{free: make(chan *place, places), waitingMax: int64(waitingMax)}
}

// take waits for a place: what has begun for as long as it takes.
func (l *line) take(ctx context.Context, begun bool, most time.Duration) (*place, error) {
	select {
	case p := <-l.free:
		return p, nil
	default:
	}
	n := l.waiting.Add(1)
	defer l.waiting.Add(-1)
	if begun {
		return <-l.free, nil
	}
	if n > l.waitingMax {
		return nil, fileio.ErrBusy
	}
	return queue.Wait(ctx, most, l.free, func() bool { return true })
}
