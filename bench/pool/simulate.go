package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"muster/pool"
)

// costs are the times of one kind of queue on this machine, measured without contention, and of the
// machine itself.
type costs struct {
	submit   time.Duration // the lock is held while one value is put in
	take     time.Duration // the lock is held while a batch is taken out
	batch    int           // the most values of a batch
	lookAway time.Duration // before somebody looks again who found the lock taken; 0: at once when it is free
	wake     time.Duration // to wake a goroutine, without the lock
	move     time.Duration // the lock and what it guards move to another processor's cache
}

// printSimulation says what the pool and a channel would do on more processors than this machine has:
// half of them submit tasks and half of them run these. One lock is all that they share, so a simulation
// of who holds it is enough.
func printSimulation(out io.Writer) {
	move, wake := measureMove(), measureWake()
	ours, channel := measurePool(), measureChannel()
	ours.move, ours.wake, channel.move, channel.wake = move, wake, move, wake
	fmt.Fprintf(out, "\n## On more processors, simulated\n\nFrom times measured here without contention. muster: %v to submit, %v to take up to %d. Channel: %v and %v. A cache line moves in %v, a goroutine wakes in %v. Half of the processors submit, half run the tasks; ns for each task.\n\n| processors | task | muster | channel | muster ÷ channel |\n|---:|---:|---:|---:|---:|\n",
		ours.submit, ours.take, ours.batch, channel.submit, channel.take, move, wake)
	for _, task := range []time.Duration{0, 500 * time.Nanosecond} {
		for _, processors := range []int{2, 4, 8, 16, 32, 64} {
			a, b := simulate(ours, processors, task), simulate(channel, processors, task)
			fmt.Fprintf(out, "| %d | %v | %.1f | %.1f | %.2f |\n", processors, task, a, b, a/b)
		}
	}
}

// An actor is one processor in the simulation.
type actor struct {
	at     time.Duration // when it acts next
	worker bool
	asleep bool
}

const simulatedTasks = 50_000

// simulate returns the time for each task in ns.
func simulate(c costs, processors int, task time.Duration) float64 {
	actors := make([]*actor, processors)
	for i := range actors {
		actors[i] = &actor{worker: i%2 == 1}
	}
	workers := processors / 2
	random := rand.New(rand.NewPCG(1, uint64(processors)))
	var free time.Duration // when the lock is free
	var owner *actor
	queued, done := 0, 0
	for done < simulatedTasks {
		a := slices.MinFunc(actors, func(a, b *actor) int {
			if a.asleep != b.asleep {
				if a.asleep {
					return 1
				}
				return -1
			}
			return cmp.Compare(a.at, b.at)
		})
		if a.at < free {
			if c.lookAway == 0 {
				a.at = free
			} else { // no two loops take the same time
				a.at += c.lookAway/2 + time.Duration(random.Int64N(int64(c.lookAway)))
			}
			continue
		}
		if owner != a {
			a.at += c.move
			owner = a
		}
		switch {
		case a.worker && queued == 0, !a.worker && queued == crowdPlaces:
			a.asleep = true
			free = a.at + c.submit
		case a.worker:
			n := min(c.batch, queued/workers+1, queued)
			queued -= n
			done += n
			free = a.at + c.take
			a.at = free + time.Duration(n)*task
			for range n { // places for values of producers that wait
				if pause := c.rouse(actors, false, free); pause > 0 {
					a.at += pause
					queued++
				}
			}
		default:
			queued++
			free = a.at + c.submit
			a.at = free + c.rouse(actors, true, free)
		}
	}
	var end time.Duration
	for _, a := range actors {
		end = max(end, a.at)
	}
	return float64(end) / float64(done)
}

// rouse wakes one sleeping worker or producer, and returns how long the waker needs.
func (c costs) rouse(actors []*actor, worker bool, now time.Duration) time.Duration {
	for _, a := range actors {
		if a.asleep && a.worker == worker {
			a.asleep, a.at = false, now+2*c.wake
			return c.wake
		}
	}
	return 0
}

const measured = 200_000

// measurePool measures a pool whose only worker is busy, and then that worker.
func measurePool() costs {
	gate, begun := make(chan struct{}), make(chan struct{})
	p := pool.New(1, func(n int) {
		if n < 0 {
			close(begun)
			<-gate
		}
	}, pool.Queue(measured+1))
	p.Submit(-1)
	<-begun
	submit := elapsed(measured, func() {
		for n := range measured {
			p.Submit(n)
		}
	})
	each := elapsed(measured, func() {
		close(gate)
		p.Close()
	})
	const batch = 64
	return costs{submit: submit, take: batch * each / 2, batch: batch, lookAway: 200 * time.Nanosecond}
}

func measureChannel() costs {
	c := make(chan int, measured)
	send := elapsed(measured, func() {
		for n := range measured {
			c <- n
		}
	})
	receive := elapsed(measured, func() {
		for range measured {
			count(<-c)
		}
	})
	return costs{submit: send, take: receive, batch: 1}
}

// measureMove measures two goroutines that take turns to write one word. The shortest of some
// rounds counts: in others a goroutine lost its processor.
func measureMove() time.Duration {
	shortest := time.Hour
	for range 20 {
		shortest = min(shortest, passWord(5_000))
	}
	return shortest
}

func passWord(turns int64) time.Duration {
	var word atomic.Int64
	pass := func(first int64) {
		for n := first; n < 2*turns; n += 2 {
			for word.Load() != n {
			}
			word.Store(n + 1)
		}
	}
	go pass(1)
	return elapsed(2*int(turns), func() { pass(0) })
}

// measureWake measures two goroutines that wake each other.
func measureWake() time.Duration {
	const turns = 100_000
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		for range there {
			back <- struct{}{}
		}
	}()
	each := elapsed(2*turns, func() {
		for range turns {
			there <- struct{}{}
			<-back
		}
	})
	close(there)
	return each
}
