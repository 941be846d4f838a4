package lab

import (
	"fmt"
	"math"

	"muster/lab/internal/run"
	"muster/lab/results"
)

func channelAt(cycles, procs int) string { return ChannelName(0, cycles, procs, 0) }

func (j *judge) channelFastest() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	worst, text := holds, ""
	for _, procs := range claimProcs()[1:] {
		if f, lacks := j.lacking(channelAt(0, procs), channelAt(0, 1)); lacks {
			return f
		}
		s := j.Ratio(channelAt(0, procs), channelAt(0, 1), results.NsPerOp)
		worst = worse(worst, within(s, 1, math.Inf(1)))
		text += fmt.Sprintf(", %d: %s", procs, times(s))
	}
	return found(worst, "time of 1 at "+text[2:], reasons{held: "both goroutines take turns on one processor, whatever GOMAXPROCS is", gone: "more processors take some of the work off the first"})
}

func (j *judge) channelTwo() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	return j.compare(channelAt(0, 2), channelAt(0, 1), results.NsPerOp, 1.5, 2.5, reasons{held: "goroutines of one channel are woken on other threads",
		gone: "a goroutine that a channel wakes runs next on the same thread", above: "waking a thread takes longer beside what an item takes than it did"})
}

func (j *judge) channelRegains() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	if f, lacks := j.lacking(channelAt(0, 256), channelAt(0, 2), channelAt(0, 1)); lacks {
		return f
	}
	regained, lost := j.Ratio(channelAt(0, 256), channelAt(0, 2), results.NsPerOp), j.Ratio(channelAt(0, 256), channelAt(0, 1), results.NsPerOp)
	v := worse(within(regained, 0, 0.99), within(lost, 1.02, 1.25))
	return found(v, fmt.Sprintf("at 256 %s the time at 2, %s that at 1", times(regained), times(lost)), reasons{held: "more processors find what can run sooner", gone: "there is nothing to regain: GOMAXPROCS beyond what runs costs next to nothing"})
}

func (j *judge) channelThreads() finding {
	names := []string{channelAt(0, 1), channelAt(0, 2), channelAt(0, 256)}
	if f, lacks := j.lacking(names...); lacks {
		return f
	}
	one, two, many := j.Summary(names[0], threads), j.Summary(names[1], threads), j.Summary(names[2], threads)
	if one.N == 0 || one.Median == 0 {
		return cannotTell("the system does not tell how many threads a process has")
	}
	v := worse(counted(one, 3, 3), worse(counted(two, 4, 6), counted(many, 4, 6)))
	return found(v, fmt.Sprintf("%s at 1, %s at 2, %s at 256", digits(one.Median), digits(two.Median), digits(many.Median)),
		reasons{held: "the runtime has threads of its own, and starts others only for goroutines that could run",
			gone: "since Go 1.5 garbage is collected beside the program, on a quarter of GOMAXPROCS, and each that does needs a thread"})
}

func (j *judge) procsLimit() finding {
	most, none := procsName(300), procsName(0)
	if f, lacks := j.lacking(most, none); lacks {
		return f
	}
	asked, given := j.Summary(most, procsUnit), j.Summary(none, procsUnit)
	v := worse(counted(asked, 1, 256), counted(given, 1, 1))
	return finding{v, fmt.Sprintf("300 gives %s; by default it is %s", digits(asked.Median), digits(given.Median)),
		"since Go 1.5 the default is the number of processors, since 1.10 there is no limit that matters"}
}

func (j *judge) ballastWins() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	return j.compare(channelAt(1_000_000, 2), channelAt(1_000_000, 1), results.NsPerOp, 0, 0.8, reasons{held: "filler and drainer work at the same time when work is most of it",
		gone: "a goroutine that a channel wakes runs next on the same thread, so that both take turns even then"})
}

func (j *judge) depends() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	gains, loses, unsure, text := false, false, false, ""
	for _, cycles := range claimCycles() {
		if f, lacks := j.lacking(channelAt(cycles, 2), channelAt(cycles, 1)); lacks {
			return f
		}
		s := j.Ratio(channelAt(cycles, 2), channelAt(cycles, 1), results.NsPerOp)
		switch within(s, 0, 1) {
		case holds:
			gains = true
		case noLongerHolds:
			loses = true
		default:
			unsure = true
		}
		text += fmt.Sprintf(", %d cycles: %s", cycles, times(s))
	}
	v := noLongerHolds
	if gains && loses {
		v = holds
	} else if unsure {
		v = cannotBeTold
	}
	return found(v, "time of 2 ÷ 1, "+text[2:], reasons{held: "what is gained by working at the same time is set against what it costs to meet", gone: "it goes the same way with every number of cycles that was tried"})
}

func (j *judge) writers() finding {
	few, many := insertName(postgresImpl, claimWriters(j.sizes)[0]), insertName(postgresImpl, claimWriters(j.sizes)[1])
	if f, lacks := j.lacking(few, many); lacks {
		return f
	}
	s := j.Ratio(few, many, results.NsPerOp)
	memory := j.Summary(many, clientRSS)
	return found(within(s, 5, math.Inf(1)), fmt.Sprintf("%s as many rows a second, in %s MB", times(s), digits(memory.Median/1e6)),
		reasons{held: "writers share one flush of the server's log", gone: "the server's processors and its log bound it; beyond its connections goroutines only wait"})
}

func (j *judge) processes() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	n := min(j.cpus, run.ProcessesMax)
	all := ChannelName(0, 0, 1, n)
	one := ChannelName(0, 0, 1, 1)
	if f, lacks := j.lacking(all, one); lacks {
		return f
	}
	s := j.Ratio(one, all, results.NsPerOp)
	return found(within(s, 0.9*float64(n), math.Inf(1)), fmt.Sprintf("%s with %d processes", times(s), n), reasons{held: "they share nothing but the machine's caches, memory and clock rate", gone: "processors that share a core, or a host, are not worth a whole one each"})
}
