package oracle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"muster/regress/host"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
)

// world is where modelled tools run. It knows which tool is installed, disturbs runs as a
// plan says, and logs what each run left: the truth that verdicts are judged by.
type world struct {
	mu      sync.Mutex
	tool    *model
	turns   map[turn]int
	numbers int // given to runs, for what is unique

	// Of the present command:
	plan   disturbance
	cancel context.CancelFunc
	begun  int
	log    map[string][]face // what completed runs left, by case, in order
	broken map[string]bool   // cases with a run that the machine failed
	cut    bool
	turned bool // the tool changed while the command ran
	faults []string
}

// turn counts the runs of a case by a tool.
type turn struct {
	tool *model
	name string
}

// disturbance is what happens to a command, by the number of runs that have begun.
type disturbance struct {
	cut  int // an interrupt before this run; -1 = none
	fail int // the machine fails this run; -1 = none
	turn int // the tool changes before this run; -1 = never
	by   func()
}

var undisturbed = disturbance{cut: -1, fail: -1, turn: -1}

func (d disturbance) String() string {
	return fmt.Sprintf("cut before run %d, machine fails run %d, tool changes before run %d", d.cut, d.fail, d.turn)
}

// begin prepares a call of a command with this host.
func (w *world) begin(h *host.Host, plan disturbance, cancel context.CancelFunc) {
	w.plan, w.cancel = plan, cancel
	w.begun, w.cut, w.turned, w.faults = 0, false, false, nil
	w.log, w.broken = map[string][]face{}, map[string]bool{}
	h.Executor = func(lanes int) (exec.Executor, error) { return modelExecutor{w, lanes}, nil }
}

// modelExecutor runs cases by the tool that is installed in the world.
type modelExecutor struct {
	*world
	lanes int
}

// Run answers as a lane would, or an engine that remembers runs: what is not asked for as
// fresh must be the first run of its case in this command.
func (x modelExecutor) Run(ctx context.Context, job exec.Job) (*exec.Result, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	number := x.begun
	x.begun++
	name := job.Source.Name
	if number == x.plan.turn {
		x.plan.by()
		x.turned = true
	}
	switch {
	case number == x.plan.cut:
		x.cut = true
		x.cancel()
		return nil, ctx.Err()
	case number == x.plan.fail:
		x.broken[name] = true
		return nil, fault.Environmentf("the disk of lane %d is full", number%x.lanes)
	case !job.Fresh && len(x.log[name]) > 0:
		x.faults = append(x.faults, "a further run of "+name+" may be answered from a cache")
	}
	return x.left(name).result(x.lane(number, job.Avoid)), nil
}

// left returns what this run leaves, and logs it.
func (w *world) left(name string) face {
	at := turn{w.tool, name}
	w.numbers++
	f := w.tool.conduct(name).face(w.turns[at]).resolved(w.numbers)
	w.turns[at]++
	w.log[name] = append(w.log[name], f)
	return f
}

func (x modelExecutor) lane(number, avoid int) int {
	lane := number % x.lanes
	if lane == avoid {
		lane = (lane + 1) % x.lanes
	}
	return lane
}

// RunAll runs one job or two, and stops at an error: the others must be asked for again.
func (x modelExecutor) RunAll(ctx context.Context, b exec.Batch) int {
	ran := 0
	for i, job := range b.Jobs[:min(len(b.Jobs), 2)] {
		b.Started(i)
		r, err := x.Run(ctx, job)
		b.Ended(i, r, err)
		if ran = i + 1; err != nil {
			break
		}
	}
	return ran
}

func (modelExecutor) Floor() int64          { return 1024 }
func (modelExecutor) OwnCPU() time.Duration { return 0 }
func (modelExecutor) Close() error          { return nil }
