package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ChannelOptions says what [Channel] measures.
type ChannelOptions struct {
	Options
	Procs     []int // GOMAXPROCS; rising
	Cycles    []int // turns of a loop that both sides do for each item; rising
	Items     int   // through the channel: a multiple of 100,000
	Processes int   // most of those that do the same at the same time; 0 = none

	Writers []int // goroutines that write to a database at the same time; rising; empty = none
	Rows    int   // that they write, in all
}

// channelPortion is the items that are timed together, as in the article.
const channelPortion = 100_000

// What is measured of channels besides one process of two goroutines.
const (
	bufferPlaces = 100
	startedEach  = 20 * time.Millisecond
)

// Channel measures a goroutine that fills a channel and one that drains it: with every
// GOMAXPROCS, with and without a buffer, with work beside the channel; how many threads
// GOMAXPROCS brings; how far several processes do better; and how far more goroutines that
// write to a database do.
func Channel(ctx context.Context, o ChannelOptions) (_ *Results, err error) {
	if err := checkNumbers("procs", 1, 1024, o.Procs...); err != nil {
		return nil, err
	}
	if err := checkNumbers("cycles", 0, 100_000, o.Cycles...); err != nil {
		return nil, err
	}
	if o.Items < channelPortion || o.Items%channelPortion != 0 {
		return nil, inputf("items of %d: it must be a multiple of %d", o.Items, channelPortion)
	}
	if o.Processes < 0 || o.Processes > processesMax {
		return nil, inputf("processes of %d: from 0 to %d are possible", o.Processes, processesMax)
	}
	if err := o.checkWriters(); err != nil {
		return nil, err
	}
	conditions := []Pair{{"items", strconv.Itoa(o.Items)}}
	if len(o.Writers) > 0 {
		conditions = append(conditions, Pair{"rows", strconv.Itoa(o.Rows)})
	}
	p, err := newPlan(&o.Options, "channel", conditions...)
	if err != nil {
		return nil, err
	}
	for _, buffer := range []int{0, bufferPlaces} {
		for _, cycles := range o.Cycles {
			for _, procs := range o.Procs {
				p.addChannel(o, buffer, cycles, procs, 0)
			}
		}
	}
	for n := 1; n <= o.Processes; n *= 2 {
		p.addChannel(o, 0, o.Cycles[0], 1, n)
		if last := o.Cycles[len(o.Cycles)-1]; last != o.Cycles[0] {
			p.addChannel(o, 0, last, 1, n)
		}
	}
	for _, procs := range o.Procs {
		p.add(trial{
			name:    startedName(procs),
			command: append(slices.Clone(o.Probe), "started", "-goroutines", strconv.Itoa(2*procs), "-each", startedEach.String()),
			procs:   procs, estimate: 3 * startedEach,
		})
	}
	end, err := p.addWriters(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	return p.results, p.measure(ctx)
}

func (p *plan) addChannel(o ChannelOptions, buffer, cycles, procs, processes int) {
	portion := min(channelPortion, o.Items)
	p.add(trial{
		name: ChannelName(buffer, cycles, procs, processes),
		command: append(slices.Clone(o.Probe), "channel", "-items", strconv.Itoa(o.Items), "-portion", strconv.Itoa(portion),
			"-cycles", strconv.Itoa(cycles), "-buffer", strconv.Itoa(buffer)),
		procs: procs, processes: processes,
		estimate: time.Duration(o.Items*max(1, processes)) * (150*time.Nanosecond + time.Duration(cycles)*time.Nanosecond/2),
	})
}

// ChannelName is the name of a figure of [Channel]; processes is 0 for one that is not
// among those that run at the same time.
func ChannelName(buffer, cycles, procs, processes int) string {
	name := fmt.Sprintf("Channel/buffer=%d/cycles=%d/procs=%d", buffer, cycles, procs)
	if processes > 0 {
		name += fmt.Sprintf("/processes=%d", processes)
	}
	return name
}

// startedName is the name of the threads that a GOMAXPROCS brings.
func startedName(procs int) string {
	return fmt.Sprintf("Started/goroutines=%d/procs=%d", 2*procs, procs)
}
