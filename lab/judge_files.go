package lab

import (
	"fmt"
	"math"

	"muster/lab/probe"
	"muster/lab/results"
)

// Bounds on the threads of a server: half as many as connections are about one for each;
// a pool's, and as many again for all else.
const (
	threadsUnbounded = uploadConnections / 2
	threadsBounded   = 2 * engineThreads
)

// large is an upload of the article's size.
func large(engine string, bound bool) string { return upload{engine, bound, uploadLarge}.name() }

// uploaded tells how many uploads there were each second, and the server's threads.
func (j *judge) uploaded(name string) string {
	return fmt.Sprintf("%s a second, %s threads", grouped(int64(1e9/j.Summary(name, results.NsPerOp).Median)), digits(j.Summary(name, threads).Median))
}

// lackingThreads is lacking, also where the system does not tell of threads.
func (j *judge) lackingThreads(names ...string) (finding, bool) {
	if f, lacks := j.lacking(names...); lacks {
		return f, true
	}
	for _, name := range names {
		if n := j.Summary(name, threads); n.N == 0 || n.Median == 0 {
			return cannotTell("the system does not tell how many threads a process has"), true
		}
	}
	return finding{}, false
}

const (
	diskTakesAll = "this disk takes writes into memory at once: name a folder on a slow disk with --dir"
	diskTakesToo = "; this disk takes writes into memory at once, and what a pool is for is seen on one that blocks (--dir)"
)

// blocks reports whether uploads without a pool waited for the disk, a thread each.
func (j *judge) blocks() bool {
	return counted(j.Summary(large(probe.Direct, false), threads), threadsUnbounded, math.Inf(1)) == holds
}

// uploadsDirect never says that the claim no longer holds: few threads are a disk's that
// lets none wait, and of one that does they say nothing.
func (j *judge) uploadsDirect() finding {
	name := large(probe.Direct, false)
	if f, lacks := j.lackingThreads(name); lacks {
		return f
	}
	if !j.blocks() {
		return finding{cannotBeTold, j.uploaded(name), diskTakesAll}
	}
	return finding{holds, j.uploaded(name), "each upload that waits for the disk holds a thread"}
}

func (j *judge) uploadsPool() finding {
	return j.uploadsBounded(large(probe.Pool, false), 0.91, 1.05)
}
func (j *judge) uploadsBound() finding {
	return j.uploadsBounded(large(probe.CThreads, true), 0.82, 0.96)
}
func (j *judge) uploadsUnbound() finding {
	return j.uploadsBounded(large(probe.CThreads, false), 0.87, 1.01)
}

// uploadsBounded compares uploads by an engine of so many threads with those without one,
// and counts the server's threads.
func (j *judge) uploadsBounded(name string, low, high float64) finding {
	without := large(probe.Direct, false)
	if f, lacks := j.lackingThreads(without, name); lacks {
		return f
	}
	bounded := counted(j.Summary(name, threads), 1, threadsBounded)
	s := j.Ratio(without, name, results.NsPerOp)
	why := reasons{
		held:  "few threads keep the disk as busy as many do, for about what handing over costs",
		gone:  "handing over to another thread costs more beside what is done with a file than it did",
		above: "a whole file is one job here, not one for each page of 4 KB, so that handing over costs little, and fewer files at a time wait less for one another",
	}.of(s, high)
	if bounded == noLongerHolds {
		why.gone = "sockets too hold threads for a moment, and more of them where there is more to do than processors"
	}
	f := found(worse(bounded, within(s, low, high)), fmt.Sprintf("%s as many: %s", times(s), j.uploaded(name)), why)
	if !j.blocks() {
		f.why += diskTakesToo
	}
	return f
}

func (j *judge) uploadsSmall() finding {
	few, many := large(probe.Direct, false), upload{probe.Direct, false, uploadSmall}.name()
	f := j.compare(few, many, results.NsPerOp, 4, math.Inf(1), reasons{held: "the disk takes bytes so slowly that they are most of an upload",
		gone: "beside what a request costs, whatever its size, the disk takes bytes fast"})
	if f.here != "" {
		f.here += " as many: " + j.uploaded(many)
	}
	return f
}
