package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// junitWhere collects where each case ran, as lines of the suite's output. Within a test case
// the schemas allow it only in the text of a failure.
type junitWhere struct {
	lines []piece
	bytes int
	more  int // lines that there was no room for
}

// junitWhereBytesMax bounds these lines.
const junitWhereBytesMax = 8 << 20

func (j *junitWhere) add(to *target, c Case) error {
	words := EngineWords(c.Engine)
	if words == "" {
		return nil
	}
	line := elementText(name.Print(c.Name) + "  " + words + "\n")
	if j.bytes += len(line); j.bytes > junitWhereBytesMax {
		j.more++
		return nil
	}
	at, err := to.keep(line)
	j.lines = append(j.lines, piece{index: c.Index, at: at})
	return err
}

func (j *junitWhere) write(w io.Writer, to *target) error {
	if len(j.lines) == 0 {
		return nil
	}
	slices.SortStableFunc(j.lines, func(a, b piece) int { return cmp.Compare(a.index, b.index) })
	fmt.Fprintf(w, "    <system-out>")
	for _, one := range j.lines {
		if err := to.copy(w, one.at); err != nil {
			return err
		}
	}
	if j.more > 0 {
		fmt.Fprintf(w, "… %s: --format json -v has all\n", readable.Count(j.more, "more case"))
	}
	_, err := fmt.Fprintf(w, "</system-out>\n")
	return err
}

// whereLine returns the same within the text of a failure.
func whereLine(r *outcome.EngineRun) string {
	if words := EngineWords(r); words != "" {
		return words + "\n"
	}
	return ""
}

type junitProperty struct{ name, value string }

// engineProperties describes the runs on an engine. It returns none for runs on this machine.
func engineProperties(r *regress.EngineRuns) []junitProperty {
	if r == nil {
		return nil
	}
	list := []junitProperty{
		{"engine_cached", strconv.Itoa(r.Cached)}, {"engine_executed", strconv.Itoa(r.Executed)},
		{"engine_sent_bytes", strconv.FormatInt(r.Sent, 10)}, {"engine_received_bytes", strconv.FormatInt(r.Received, 10)},
	}
	if len(r.Workers) > 0 {
		list = append(list, junitProperty{"engine_workers", strconv.Itoa(len(r.Workers))})
	}
	if waits := engineWaits(r); waits != "" {
		list = append(list, junitProperty{"engine_waits", waits})
	}
	return list
}
