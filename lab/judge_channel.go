package lab

import (
	"fmt"
	"math"

	"muster/lab/internal/run"
	"muster/lab/results"
)

func channelAt(cycles, procs int) string { return ChannelName(0, cycles, procs, 0) }

func (j *judge) channelFastest() finding {
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	worst, text := holds, ""
	for _, procs := range claimProcs()[1:] {
		if f, missing := j.findMissing(channelAt(0, procs), channelAt(0, 1)); missing {
			return f
		}
		s := j.Ratio(channelAt(0, procs), channelAt(0, 1), results.NsPerOp)
		worst = combine(worst, judgeTimes(s, 1, math.Inf(1)))
		text += fmt.Sprintf(", %d: %s", procs, timesText(s))
	}
	return newFinding(worst, "time relative to GOMAXPROCS 1, at "+text[2:], reasons{held: "both goroutines take turns on one processor at any GOMAXPROCS", gone: "further processors take over some of the work"})
}

func (j *judge) channelTwo() finding {
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	return j.compare(channelAt(0, 2), channelAt(0, 1), results.NsPerOp, 1.5, 2.5, reasons{held: "a channel wakes its goroutines on other threads",
		gone: "a goroutine that a channel wakes runs next on the same thread", above: "compared with an item, waking a thread takes longer than it did"})
}

func (j *judge) channelRegains() finding {
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	if f, missing := j.findMissing(channelAt(0, 256), channelAt(0, 2), channelAt(0, 1)); missing {
		return f
	}
	regained, lost := j.Ratio(channelAt(0, 256), channelAt(0, 2), results.NsPerOp), j.Ratio(channelAt(0, 256), channelAt(0, 1), results.NsPerOp)
	v := combine(judgeTimes(regained, 0, 0.99), judgeTimes(lost, 1.02, 1.25))
	return newFinding(v, fmt.Sprintf("at 256: %s the time at 2, and %s the time at 1", timesText(regained), timesText(lost)), reasons{held: "more processors find runnable goroutines sooner", gone: "nothing was lost: a GOMAXPROCS above the number of runnable goroutines costs next to nothing"})
}

func (j *judge) channelThreads() finding {
	names := []string{channelAt(0, 1), channelAt(0, 2), channelAt(0, 256)}
	if f, missing := j.findMissing(names...); missing {
		return f
	}
	one, two, many := j.Summary(names[0], threadsUnit), j.Summary(names[1], threadsUnit), j.Summary(names[2], threadsUnit)
	if one.N == 0 || one.Median == 0 {
		return newUndecided(threadsUnknown)
	}
	v := combine(judgeCounts(one, 3, 3), combine(judgeCounts(two, 4, 6), judgeCounts(many, 4, 6)))
	return newFinding(v, fmt.Sprintf("%s at 1, %s at 2, %s at 256", digits(one.Median), digits(two.Median), digits(many.Median)),
		reasons{held: "the runtime has threads of its own, and starts others only for runnable goroutines",
			gone: "since Go 1.5 the garbage collector runs beside the program, on a quarter of GOMAXPROCS, and each of its workers needs a thread"})
}

func (j *judge) procsLimit() finding {
	most, none := procsName(300), procsName(0)
	if f, missing := j.findMissing(most, none); missing {
		return f
	}
	asked, given := j.Summary(most, procsUnit), j.Summary(none, procsUnit)
	v := combine(judgeCounts(asked, 1, 256), judgeCounts(given, 1, 1))
	return finding{v, fmt.Sprintf("a request for 300 gives %s; the default is %s", digits(asked.Median), digits(given.Median)),
		"since Go 1.5 the default is the number of processors; since Go 1.10 the limit is beyond practical values"}
}

func (j *judge) ballastWins() finding {
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	return j.compare(channelAt(1_000_000, 2), channelAt(1_000_000, 1), results.NsPerOp, 0, 0.8, reasons{held: "both goroutines work at the same time when the work dominates",
		gone: "a goroutine that a channel wakes runs next on the same thread, so both take turns even then"})
}

func (j *judge) dependsOnTask() finding {
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	gains, loses, unsure, text := false, false, false, ""
	for _, cycles := range claimCycles() {
		if f, missing := j.findMissing(channelAt(cycles, 2), channelAt(cycles, 1)); missing {
			return f
		}
		s := j.Ratio(channelAt(cycles, 2), channelAt(cycles, 1), results.NsPerOp)
		switch judgeTimes(s, 0, 1) {
		case holds:
			gains = true
		case noLongerHolds:
			loses = true
		default:
			unsure = true
		}
		text += fmt.Sprintf(", %d cycles: %s", cycles, timesText(s))
	}
	v := noLongerHolds
	if gains && loses {
		v = holds
	} else if unsure {
		v = undecided
	}
	return newFinding(v, "time at 2 ÷ time at 1, "+text[2:], reasons{held: "parallel work gains time, and the exchange of items costs time", gone: "every tried number of cycles has the same result"})
}

func (j *judge) manyWriters() finding {
	few, many := insertName(postgresImpl, claimWriters(j.sizes)[0]), insertName(postgresImpl, claimWriters(j.sizes)[1])
	if f, missing := j.findMissing(few, many); missing {
		return f
	}
	s := j.Ratio(few, many, results.NsPerOp)
	memory := j.Summary(many, clientRSS)
	return newFinding(judgeTimes(s, 5, math.Inf(1)), fmt.Sprintf("%s as many rows a second, with %s MB", timesText(s), digits(memory.Median/1e6)),
		reasons{held: "writers share flushes of the server's log", gone: "the server's processors and log are the limit; goroutines without a connection only wait"})
}

func (j *judge) manyProcesses() finding {
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	n := min(j.cpus, run.ProcessesMax)
	all := ChannelName(0, 0, 1, n)
	one := ChannelName(0, 0, 1, 1)
	if f, missing := j.findMissing(all, one); missing {
		return f
	}
	s := j.Ratio(one, all, results.NsPerOp)
	return newFinding(judgeTimes(s, 0.9*float64(n), math.Inf(1)), fmt.Sprintf("%s with %d processes", timesText(s), n), reasons{held: "the processes share only the machine's caches, memory and clock rate", gone: "processors that share a core or a host deliver less than a whole processor each"})
}
