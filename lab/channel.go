package lab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
)

// ChannelOptions configures [Channel]. Lists must rise.
type ChannelOptions struct {
	Options
	Procs     []int // values of GOMAXPROCS
	Cycles    []int // loop iterations on both sides for each item
	Items     int   // through the channel; a multiple of 100,000
	Processes int   // most processes at the same time; 0 = skip
	Portions  bool  // report the time of every portion, not only their median
}

// channelPortion is the number of items that are timed together, as in the article.
const channelPortion = 100_000

// Settings of the measurements of channels and threads. At most itemCycles loop iterations for
// each of ChannelOptions.Items are made: with more cycles fewer items pass, at least itemsMin.
const (
	itemCycles   = 1000
	itemsMin     = 10
	bufferPlaces = 100
	startedEach  = 20 * time.Millisecond
)

// Channel measures a goroutine that fills a channel and another that drains it. It varies
// GOMAXPROCS, the buffer and the work beside the channel. It also measures the threads that
// GOMAXPROCS brings, and several processes at once.
func Channel(ctx context.Context, o ChannelOptions) (*Results, error) {
	if err := checkNumbers("procs", 1, 1024, o.Procs...); err != nil {
		return nil, err
	}
	if err := checkNumbers("cycles", 0, 10_000_000, o.Cycles...); err != nil {
		return nil, err
	}
	if o.Items < channelPortion || o.Items%channelPortion != 0 {
		return nil, inputf("items is %d, but must be a multiple of %d", o.Items, channelPortion)
	}
	if o.Processes < 0 || o.Processes > run.ProcessesMax {
		return nil, inputf("processes is %d, but must be from 0 to %d", o.Processes, run.ProcessesMax)
	}
	conditions := []results.Pair{{Key: "items", Value: strconv.Itoa(o.Items)}}
	if o.Portions {
		conditions = append(conditions, results.Pair{Key: "portions", Value: "each"})
	}
	plan, err := run.New(&o.Options, "channel", conditions...)
	if err != nil {
		return nil, err
	}
	p := planner{plan}
	for _, buffer := range []int{0, bufferPlaces} {
		for _, cycles := range o.Cycles {
			for _, procs := range o.Procs {
				p.Add(p.channelTrial(o.items(cycles), buffer, cycles, procs, 0, o.Portions))
			}
		}
	}
	for _, cycles := range o.ends() {
		for _, procs := range o.procsEach() {
			for n := 1; n <= o.Processes; n *= 2 {
				p.addChannel(o.items(cycles), 0, cycles, procs, n)
			}
		}
	}
	for _, procs := range o.Procs {
		t := p.Probe(startedName(procs), 3*startedEach, question("started", startedQuestion{2 * procs, startedEach})...)
		t.Procs = procs
		p.Add(t)
	}
	return p.Results, p.Measure(ctx)
}

// items returns how many items pass with a number of cycles: fewer if all would take too long.
func (o *ChannelOptions) items(cycles int) int {
	if cycles <= itemCycles {
		return o.Items
	}
	return max(itemsMin, o.Items*itemCycles/cycles)
}

// ends returns the smallest and the largest number of cycles, without repetition.
func (o *ChannelOptions) ends() []int {
	if len(o.Cycles) == 1 {
		return o.Cycles
	}
	return []int{o.Cycles[0], o.Cycles[len(o.Cycles)-1]}
}

// procsEach returns the values of GOMAXPROCS for each of several processes.
func (o *ChannelOptions) procsEach() []int {
	return slices.DeleteFunc(slices.Clone(o.Procs), func(n int) bool { return n > max(o.Processes, o.Procs[0]) })
}

func (p planner) addChannel(items, buffer, cycles, procs, processes int) {
	p.Add(p.channelTrial(items, buffer, cycles, procs, processes, false))
}

func (p planner) channelTrial(items, buffer, cycles, procs, processes int, portions bool) run.Trial {
	t := p.Probe(ChannelName(buffer, cycles, procs, processes),
		time.Duration(items*max(1, processes))*(150*time.Nanosecond+time.Duration(cycles)*time.Nanosecond/2),
		question("channel", channelQuestion{probe.ChannelOptions{Items: items, Portion: min(channelPortion, items), Cycles: cycles, Buffer: buffer}, portions})...)
	t.Procs, t.Processes = procs, processes
	return t
}

// portionName returns the unit of the nth portion, from 1 on.
func portionName(n int) string { return fmt.Sprintf("s/portion-%d", n) }

// ChannelName returns the name of a figure of [Channel]. processes is 0 for a single process
// without a gate.
func ChannelName(buffer, cycles, procs, processes int) string {
	name := fmt.Sprintf("Channel/buffer=%d/cycles=%d/procs=%d", buffer, cycles, procs)
	if processes > 0 {
		name += fmt.Sprintf("/processes=%d", processes)
	}
	return name
}

// startedName returns the name of the figure for the threads that GOMAXPROCS brings.
func startedName(procs int) string {
	return fmt.Sprintf("Started/goroutines=%d/procs=%d", 2*procs, procs)
}
