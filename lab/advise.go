package lab

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/lab/internal/run"
	"muster/lab/page"
	"muster/lab/results"
)

// AdviseOptions says what [Advise] is to look at.
type AdviseOptions struct {
	Options
	Dir  string        // for files that are written and read; "" = where the system has temporary files
	Task time.Duration // what one task costs, for which a chunk is to be chosen; 0 = several are shown
}

// What is measured to advise.
const (
	adviseItems = 200_000
	adviseTasks = 500_000
	adviseCalls = 100_000
	adviseRoots = 200_000 // of a task: about a millisecond
	adviseWait  = time.Millisecond
	adviseWork  = 64 // tasks of that for each processor: as many for every worker, or the last of them would tell
	adviseFiles = 1_000
	adviseSize  = 50_000
)

// overheadMax is the part of the time that handing out may take: 1 %.
const overheadMax = 0.01

// adviseWorkers are the numbers of workers that are tried: multiples of the processors.
func adviseWorkers() []int {
	n := processors()
	return []int{n, 2 * n, 4 * n, 8 * n}
}

func adviseThreads() []int { return []int{1, 2, 4, 8, 16, 32} }

// Advise measures what settings for this machine rest on.
func Advise(ctx context.Context, o AdviseOptions) (*Results, error) {
	if o.Task < 0 {
		return nil, inputf("a task of %v: it must take 1ns or more; 0 shows several", o.Task)
	}
	dir, err := folderFor(o.Dir)
	if err != nil {
		return nil, err
	}
	plan, err := run.New(&o.Options, "advise", results.Pair{Key: "dir", Value: dir})
	if err != nil {
		return nil, err
	}
	p := planner{plan}
	n := processors()
	for _, procs := range oneAnd(n) {
		p.addChannel(adviseItems, 0, 0, procs, 0)
		p.Add(p.spawn("direct", 1, directCalls(1), procs))
		p.Add(p.spawn("each", 1, adviseCalls, procs))
	}
	p.addDispatch(p.Own("dispatch"), "single", n, adviseTasks, []int{n})
	for _, workers := range adviseWorkers() {
		p.Add(p.workers(workers, n, 0))
		p.Add(p.workers(workers, n, adviseWait))
	}
	if n > 1 {
		p.Add(p.workers(n, 1, 0))
	}
	for _, workers := range adviseThreads() {
		p.Add(p.wholeFiles(o.Dir, adviseFiles, adviseSize, workers))
	}
	return p.Results, p.Measure(ctx)
}

// workers is a trial of tasks of a millisecond for so many workers.
func (p planner) workers(workers, procs int, wait time.Duration) run.Trial {
	tasks := adviseWork * processors()
	t := p.Probe(workersName(workers, procs, wait), time.Duration(tasks/procs)*time.Millisecond,
		"workers", "-workers", strconv.Itoa(workers), "-tasks", strconv.Itoa(tasks), "-roots", strconv.Itoa(adviseRoots), "-wait", wait.String())
	t.Procs = procs
	return t
}

func workersName(workers, procs int, wait time.Duration) string {
	return fmt.Sprintf("Workers/workers=%d/wait=%s/procs=%d", workers, wait, procs)
}

// advice is a setting and what it rests on.
type advice struct {
	setting, value, because string
	figures                 []string // names of the benchmarks
}

// adviser has what was measured.
type adviser struct {
	*judge
	o AdviseOptions
}

// AdviseReport shows what to set on this machine, from the results of [Advise].
func AdviseReport(r *Results, o AdviseOptions) Report {
	a := &adviser{newJudge(r, ClaimSizes{}), o}
	d := newDocument(r, "What to set on this machine",
		"They are of this machine as it was just now.", howMeasured(o.Count))
	t := page.Table{Columns: []page.Column{{Title: "setting"}, {Title: "value"}, {Title: "because"}}}
	report := Report{document: d}
	for _, one := range a.all() {
		t.Rows = append(t.Rows, page.Row(one.setting, one.value, one.because))
		figures := map[string]float64{}
		for _, name := range one.figures {
			for _, unit := range r.Units(name) {
				figures[name+" "+unit] = r.Summary(name, unit).Median
			}
		}
		report.lines = append(report.lines, map[string]any{
			"type": "advice", "setting": one.setting, "value": one.value, "because": one.because, "figures": figures,
		})
	}
	report.document.Sections = []page.Section{
		{Title: "Settings", Tables: []page.Table{t}},
		{Title: "All figures", Tables: []page.Table{a.figuresTable()}, Warnings: a.warnings(r.Names())},
	}
	return report
}

func (a *adviser) all() (list []advice) {
	list = append(list, a.procs(), a.computing(), a.waiting())
	list = append(list, a.chunks()...)
	return append(list, a.goroutine(), a.threads())
}

// unknown is advice that cannot be given.
func unknown(setting string, f finding) advice {
	return advice{setting, "cannot be told", f.why, nil}
}

func (a *adviser) procs() advice {
	const setting = "GOMAXPROCS"
	if a.cpus == 1 {
		return advice{setting, "1, as Go has it", "there is one processor", nil}
	}
	names := []string{workersName(a.cpus, a.cpus, 0), workersName(a.cpus, 1, 0), channelAt(0, a.cpus), channelAt(0, 1)}
	if f, lacks := a.lacking(names...); lacks {
		return unknown(setting, f)
	}
	work, idle := a.Ratio(names[0], names[1], results.NsPerOp), a.Ratio(names[2], names[3], results.NsPerOp)
	value := strconv.Itoa(a.cpus) + ", as Go has it"
	if work.Median > 0.9 {
		value = "1: this process does not get more than one processor"
	}
	return advice{setting, value, fmt.Sprintf("tasks that compute take %s the time at %d that they take at 1; two goroutines that only hand things to one another, %s",
		times(work), a.cpus, times(idle)), names}
}

// leastWorkers returns the least number of workers that is nearly as fast as the fastest,
// and a text of all.
func (a *adviser) leastWorkers(numbers []int, name func(int) string, unit string) (least int, text string, names []string) {
	best := math.Inf(1)
	for _, n := range numbers {
		if s := a.Summary(name(n), unit); s.N > 0 {
			best = min(best, s.Median)
		}
	}
	const nearly = 1.05
	var parts []string
	for _, n := range numbers {
		s := a.Summary(name(n), unit)
		if s.N == 0 {
			continue
		}
		if least == 0 && s.Median <= nearly*best {
			least = n
		}
		parts = append(parts, fmt.Sprintf("%d: %s", n, digits(s.Median/1000)))
		names = append(names, name(n))
	}
	return least, strings.Join(parts, ", "), names
}

func (a *adviser) workers(setting string, wait time.Duration) advice {
	least, text, names := a.leastWorkers(adviseWorkers(), func(n int) string { return workersName(n, a.cpus, wait) }, results.NsPerOp)
	if least == 0 {
		return unknown(setting, cannotTell("it was not measured"))
	}
	return advice{setting, fmt.Sprintf("%d, %d × the processors", least, least/a.cpus), "µs for each task by workers: " + text, names}
}

func (a *adviser) computing() advice { return a.workers("workers for tasks that compute", 0) }

func (a *adviser) waiting() advice {
	return a.workers("workers for tasks that wait as long as they compute", adviseWait)
}

// chunks tells how many tasks to hand out at a time, for one cost or several.
func (a *adviser) chunks() (list []advice) {
	single := DispatchName(run.Muster, "single", a.cpus, adviseTasks, a.cpus)
	costs := []time.Duration{10 * time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, 10 * time.Microsecond}
	if a.o.Task > 0 {
		costs = []time.Duration{a.o.Task}
	}
	if f, lacks := a.lacking(single); lacks {
		return []advice{unknown("tasks at a time", f)}
	}
	each := a.Summary(single, results.CPUPerOp).Median
	for _, cost := range costs {
		n := max(1, int(math.Ceil(each/(overheadMax*float64(cost)))))
		because := fmt.Sprintf("to hand out one takes %s ns of processor time: of tasks of %v in chunks of %d that is 1 %% or less", digits(each), cost, n)
		value := fmt.Sprintf("%d in one value", n)
		if n == 1 {
			value = "one by one"
		}
		list = append(list, advice{fmt.Sprintf("tasks of %v at a time", cost), value, because, []string{single}})
	}
	return list
}

func (a *adviser) goroutine() advice {
	const setting = "a goroutine for each call"
	each, direct := SpawnName(run.Muster, "each", 1, adviseCalls, a.cpus), SpawnName(run.Muster, "direct", 1, directCalls(1), a.cpus)
	if f, lacks := a.lacking(each, direct); lacks {
		return unknown(setting, f)
	}
	added := math.Max(0, a.Difference(each, direct, results.NsPerOp).Median)
	return advice{setting, "not for less than " + digits(added/100) + " µs of work",
		fmt.Sprintf("it adds %s ns to a call, with %s alive: a tenth of that much work", digits(added), grouped(adviseCalls)), []string{each, direct}}
}

func (a *adviser) threads() advice {
	const setting = "workers for files"
	name := func(n int) string { return filesName(adviseSize, n) }
	write, wrote, names := a.leastWorkers(adviseThreads(), name, createUnit)
	read, were, _ := a.leastWorkers(adviseThreads(), name, readUnit)
	if write == 0 || read == 0 {
		return unknown(setting, cannotTell("it was not measured"))
	}
	return advice{setting, strconv.Itoa(max(write, read)),
		fmt.Sprintf("µs for each file of %s bytes by workers, written: %s; read: %s; from the system's cache: a disk that blocks wants more", grouped(adviseSize), wrote, were), names}
}
