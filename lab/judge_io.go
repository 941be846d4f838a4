package lab

import (
	"fmt"
	"math"
	"strconv"

	"muster/lab/results"
)

func (j *judge) exhausted() finding {
	name := exhaustName(j.sizes.ThreadsLimit)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	n, status := j.Summary(name, threads), j.Summary(name, exitStatus)
	v := noLongerHolds
	if status.Median == 2 && n.N > 0 {
		v = holds
	}
	return finding{v, "with " + grouped(int64(n.Median)) + " threads it ended with status " + strconv.Itoa(int(status.Median)),
		"reads that the poller cannot wait for were shown by a pipe that blocks"}
}

func (j *judge) messages() finding {
	protobuf, json := echoName("protobuf"), echoName("json")
	f := j.compare(json, protobuf, results.NsPerOp, 1.2, 1.6, always("the socket is most of it, and both pay for that"))
	if f.here == "" {
		return f
	}
	f.here += fmt.Sprintf(" as many: %s and %s a second", grouped(int64(1e9/j.Summary(protobuf, results.NsPerOp).Median)), grouped(int64(1e9/j.Summary(json, results.NsPerOp).Median)))
	return f
}

func (j *judge) renames() finding {
	flat, ten := renameName(1), renameName(10)
	if f, lacks := j.lacking(flat, ten); lacks {
		return f
	}
	s := j.Ratio(flat, ten, results.NsPerOp)
	here := fmt.Sprintf("%s with %s files", times(s), grouped(int64(j.sizes.Renames)))
	v := within(s, 2, math.Inf(1))
	if v != holds && j.sizes.Renames < claimRenames {
		return finding{cannotBeTold, here, "so few say nothing of two million: measure with the article's sizes"}
	}
	return found(v, here, reasons{held: "one folder's names are one long list to search or to split", gone: "the file system's folders are trees, or its disk is in memory"})
}
