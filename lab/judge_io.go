package lab

import (
	"fmt"
	"math"
	"strconv"

	"muster/internal/readable"
	"muster/lab/results"
)

func (j *judge) threadLimit() finding {
	name := exhaustName(j.sizes.ThreadsLimit)
	if f, missing := j.findMissing(name); missing {
		return f
	}
	n, status := j.Summary(name, threadsUnit), j.Summary(name, exitStatusUnit)
	v := noLongerHolds
	if status.Median == 2 && n.N > 0 {
		v = holds
	}
	return finding{v, "at " + readable.Number(int64(n.Median)) + " threads the program ended with exit status " + strconv.Itoa(int(status.Median)),
		"a blocking pipe stands for reads that the poller cannot handle"}
}

func (j *judge) protobufMessages() finding {
	protobuf, json := echoName("protobuf"), echoName("json")
	f := j.compare(json, protobuf, results.NsPerOp, 1.2, 1.6, sameReason("the socket dominates the cost of both"))
	if f.here == "" {
		return f
	}
	f.here += fmt.Sprintf(" as many: %s and %s a second", readable.Number(int64(1e9/j.Summary(protobuf, results.NsPerOp).Median)), readable.Number(int64(1e9/j.Summary(json, results.NsPerOp).Median)))
	return f
}

func (j *judge) renamesIntoTen() finding {
	flat, ten := renameName(1), renameName(10)
	if f, missing := j.findMissing(flat, ten); missing {
		return f
	}
	s := j.Ratio(flat, ten, results.NsPerOp)
	here := fmt.Sprintf("%s with %s files", timesText(s), readable.Number(int64(j.sizes.Renames)))
	v := judgeTimes(s, 2, math.Inf(1))
	if v != holds && j.sizes.Renames < claimRenames {
		return finding{undecided, here, "so few files do not show the effect of two million: measure the article's size with --full"}
	}
	return newFinding(v, here, reasons{held: "the names of a folder are one long list to search or split", gone: "the file system stores folders as trees, or its disk is in memory"})
}
