package report

import (
	"fmt"
	"strconv"
	"strings"

	"muster/regress/internal/name"
	"muster/regress/internal/readable"
)

// Words say where a case ran; "" = on this machine.
func (r *Remote) Words() string {
	if r == nil {
		return ""
	}
	var words []string
	add := func(ok bool, text string) {
		if ok {
			words = append(words, text)
		}
	}
	ran := "ran"
	if r.Cached {
		words = append(words, "cached")
		ran = "once ran"
	}
	add(r.Worker != "", ran+" on "+r.worker())
	add(r.Worker == "" && !r.Cached, ran)
	add(r.QueueTold && !r.Cached, "queued "+human(r.Queued))
	add(r.Ran > 0, "took "+human(r.Ran))
	return strings.Join(words, ", ")
}

// workerColumnsMax bounds the name of a worker, which may have an ID of its own in it.
const workerColumnsMax = 24

func (r *Remote) worker() string { return workerText(r.Worker) }

func workerText(raw string) string { return shorten(name.Print(raw), workerColumnsMax) }

// beside puts what is said of where a case ran behind what else there is.
func beside(words, between, where string) string {
	if words == "" || where == "" {
		return words + where
	}
	return words + between + where
}

// counts says of how many runs an engine knew what comes of them.
func (r *Runs) counts() string {
	return readable.Count(r.Cached+r.Ran, "run") + ", " + readable.Number(r.Cached) + " of them cached"
}

func (r *Runs) bytes() string {
	return "sent " + readable.Size(r.Sent) + ", received " + readable.Size(r.Received)
}

// waits says how long runs waited and took in the mean.
func (r *Runs) waits() string {
	if r.Ran == 0 || r.Took == 0 {
		return ""
	}
	queued := "it is not told how long for a worker"
	if r.QueuesTold == r.Ran {
		queued = human(r.mean(r.Queued)) + " for a worker"
	}
	return fmt.Sprintf("in the mean a run waited %s and took %s", queued, human(r.mean(r.Took)))
}

// load says how many runs were under way at once.
func (r *Runs) load() string {
	asked, running := r.atOnce()
	if asked == 0 {
		return ""
	}
	return fmt.Sprintf("%s were asked for at once (--remote-jobs %s), %s ran", few(asked), readable.Number(r.Jobs), few(running))
}

// few is a mean of counts.
func few(n float64) string {
	if n >= 9.95 {
		return readable.Number(int64(n + 0.5))
	}
	return strconv.FormatFloat(finite(n), 'f', 1, 64)
}

// seen says which workers there were, "" where they have no names.
func (r *Runs) seen() string {
	if len(r.Workers) == 0 {
		return ""
	}
	text := readable.Count(len(r.Workers), "worker")
	if slow, ok := r.slowest(); ok {
		text += fmt.Sprintf(", the slowest %s with %s a run, all %s", workerText(slow.Name), human(slow.mean()), human(r.mean(r.Took)))
	}
	return text
}

func (l LongestRun) words() string {
	if l.Took == 0 {
		return ""
	}
	text := name.Print(l.Name) + ", " + human(l.Took)
	if l.Worker != "" {
		text += " on " + workerText(l.Worker)
	}
	return text
}

// lines are what there is to say of the runs on an engine besides their number.
func (r *Runs) lines() []string {
	lines := []string{r.bytes()}
	if seen := r.seen(); seen != "" {
		lines[0] = seen + "; " + lines[0]
	}
	for _, one := range []string{r.waits(), r.load(), r.advice()} {
		if one != "" {
			lines = append(lines, one)
		}
	}
	if longest := r.Longest.words(); longest != "" && r.Ran > 1 {
		lines = append(lines, "longest: "+longest)
	}
	return lines
}
