package lab

import (
	"fmt"
	"math"

	"muster/internal/readable"
	"muster/lab/probe"
	"muster/lab/results"
)

// Bounds on the server's threads. At half as many threads as connections, about each
// connection has one. A pool may have its own threads, and as many again for everything else.
const (
	threadsUnbounded = uploadConnections / 2
	threadsBounded   = 2 * engineThreads
)

// largeUpload returns the name of an upload of the article's size.
func largeUpload(engine string, bound bool) string { return upload{engine, bound, uploadLarge}.name() }

// uploadsText formats the uploads per second and the server's threads.
func (j *judge) uploadsText(name string) string {
	return fmt.Sprintf("%s a second, %s threads", readable.Number(int64(1e9/j.Summary(name, results.NsPerOp).Median)), digits(j.Summary(name, threadsUnit).Median))
}

// findMissingThreads is findMissing, and also requires that the system reports threads.
func (j *judge) findMissingThreads(names ...string) (finding, bool) {
	if f, missing := j.findMissing(names...); missing {
		return f, true
	}
	for _, name := range names {
		if n := j.Summary(name, threadsUnit); n.N == 0 || n.Median == 0 {
			return newUndecided(threadsUnknown), true
		}
	}
	return finding{}, false
}

const (
	diskTakesAll = "this disk takes writes into memory at once; with --dir, name a folder on a slow disk"
	diskTakesToo = "; this disk takes writes into memory at once, and a pool shows its benefit only on a disk that blocks (--dir)"
)

// diskBlocks reports whether uploads without a pool waited for the disk, each in a thread.
func (j *judge) diskBlocks() bool {
	return judgeCounts(j.Summary(largeUpload(probe.Direct, false), threadsUnit), threadsUnbounded, math.Inf(1)) == holds
}

// uploadsDirect never returns noLongerHolds. Few threads only mean that the disk lets no
// upload wait.
func (j *judge) uploadsDirect() finding {
	name := largeUpload(probe.Direct, false)
	if f, missing := j.findMissingThreads(name); missing {
		return f
	}
	if !j.diskBlocks() {
		return finding{undecided, j.uploadsText(name), diskTakesAll}
	}
	return finding{holds, j.uploadsText(name), "each upload that waits for the disk keeps a thread"}
}

func (j *judge) uploadsPool() finding {
	return j.uploadsBounded(largeUpload(probe.Pool, false), 0.91, 1.05)
}
func (j *judge) uploadsBound() finding {
	return j.uploadsBounded(largeUpload(probe.CThreads, true), 0.82, 0.96)
}
func (j *judge) uploadsUnbound() finding {
	return j.uploadsBounded(largeUpload(probe.CThreads, false), 0.87, 1.01)
}

// uploadsBounded compares uploads through an engine with a bounded number of threads to direct
// uploads, and checks the server's threads.
func (j *judge) uploadsBounded(name string, low, high float64) finding {
	without := largeUpload(probe.Direct, false)
	if f, missing := j.findMissingThreads(without, name); missing {
		return f
	}
	bounded := judgeCounts(j.Summary(name, threadsUnit), 1, threadsBounded)
	s := j.Ratio(without, name, results.NsPerOp)
	why := reasons{
		held:  "few threads keep the disk as busy as many, at about the cost of the handover",
		gone:  "compared with a file operation, the handover to another thread costs more than it did",
		above: "a whole file is one job here, not one job per page of 4 KB, so the handover costs little; fewer files at a time wait less for one another",
	}.forSide(s, high)
	if bounded == noLongerHolds {
		why.gone = "sockets also keep threads for moments, and more of them when the processors are overloaded"
	}
	f := newFinding(combine(bounded, judgeTimes(s, low, high)), fmt.Sprintf("%s as many: %s", timesText(s), j.uploadsText(name)), why)
	if !j.diskBlocks() {
		f.why += diskTakesToo
	}
	return f
}

func (j *judge) uploadsSmall() finding {
	few, many := largeUpload(probe.Direct, false), upload{probe.Direct, false, uploadSmall}.name()
	f := j.compare(few, many, results.NsPerOp, 4, math.Inf(1), reasons{held: "the disk is so slow that its time per byte dominates an upload",
		gone: "the disk is fast, so the fixed cost of a request dominates"})
	if f.here != "" {
		f.here += " as many: " + j.uploadsText(many)
	}
	return f
}
