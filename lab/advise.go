package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/probe"
	"muster/lab/results"
)

// AdviseOptions configures [Advise].
type AdviseOptions struct {
	Options
	Dir  string        // parent of the test files; "" = the system's folder for temporary files
	Task time.Duration // duration of one task, to choose a chunk size; 0 = several durations
}

// Sizes of the measurements.
const (
	adviseItems = 200_000
	adviseTasks = 500_000
	adviseCalls = 100_000
	adviseRoots = 200_000 // square roots per task: about 1 ms
	adviseWait  = time.Millisecond
	adviseWork  = 64 // tasks per processor: a multiple of every number of workers, so that no worker idles at the end
	adviseFiles = 1_000
	adviseSize  = 50_000
)

// overheadMax is the share of the time that dispatching may take: 1 %.
const overheadMax = 0.01

// adviseWorkers returns the numbers of workers to try: multiples of the processors.
func adviseWorkers() []int {
	n := processors()
	return []int{n, 2 * n, 4 * n, 8 * n}
}

func adviseThreads() []int { return []int{1, 2, 4, 8, 16, 32} }

// Advise measures the costs on which the settings for this machine depend.
func Advise(ctx context.Context, o AdviseOptions) (*Results, error) {
	if o.Task < 0 {
		return nil, inputf("the duration of a task is %v, but must be at least 1ns (0 = several durations)", o.Task)
	}
	dir, err := checkFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	p, err := newPlanner(&o.Options, "advise", results.Pair{Key: "dir", Value: dir})
	if err != nil {
		return nil, err
	}
	n := processors()
	for _, procs := range slices.Compact([]int{1, n}) {
		p.add(channelTrial(adviseItems, 0, 0, procs, 0, false))
	}
	p.add(spawnTrial(probe.Bare, 1, directCalls(1), n))
	p.add(spawnTrial(probe.Grouped, 1, adviseCalls, n))
	p.addDispatch(contestant{Impl: muster, Language: golang, Own: true}, "single", n, adviseTasks, []int{n})
	for _, workers := range adviseWorkers() {
		p.add(workersTrial(workers, n, 0))
		p.add(workersTrial(workers, n, adviseWait))
	}
	if n > 1 {
		p.add(workersTrial(n, 1, 0))
	}
	for _, workers := range adviseThreads() {
		p.add(o.fileTrial(workers))
	}
	return p.Results, p.measure(ctx)
}

// workersTrial returns a trial of tasks that compute for about a millisecond and then wait.
func workersTrial(workers, procs int, wait time.Duration) trial {
	tasks := adviseWork * processors()
	return trial{Name: fmt.Sprintf("Workers/workers=%d/wait=%s/procs=%d", workers, wait, procs), Procs: procs,
		Estimate: time.Duration(tasks/max(procs, 1)) * time.Millisecond,
		Question: probe.Workers{Workers: workers, Tasks: tasks, Roots: adviseRoots, Wait: wait}}
}

func workersName(workers, procs int, wait time.Duration) string {
	return workersTrial(workers, procs, wait).Name
}

// fileTrial returns a trial of files with a number of workers.
func (o AdviseOptions) fileTrial(workers int) trial {
	return filesTrial(o.Dir, adviseFiles, adviseSize, workers)
}

// advice is a setting, its recommended value and the reason.
type advice struct {
	setting, value, reason string
	figures                []string // benchmarks that support it
}

// An adviser derives settings from results.
type adviser struct {
	*judge
	o     AdviseOptions
	quota float64 // processors whose time a container's quota allows; infinite without one
}

func newAdviser(r *Results, o AdviseOptions) *adviser {
	quota, err := strconv.ParseFloat(r.Condition(quotaKey), 64)
	if err != nil {
		quota = math.Inf(1)
	}
	return &adviser{newJudge(r, ClaimSizes{}), o, quota}
}

// AdviseReport reports settings for this machine, from the results of [Advise].
func AdviseReport(r *Results, o AdviseOptions) Report {
	a := newAdviser(r, o)
	lead := []string{"The values apply to this machine in its current state.", howMeasured(o.Count)}
	limit := a.hiddenLimit()
	if limit != "" {
		lead = append([]string{"These settings are unreliable: " + limit + "."}, lead...)
	}
	d := newDocument(r, "Settings for this machine", lead...)
	t := page.Table{Columns: []page.Column{{Title: "setting"}, {Title: "value"}, {Title: "reason"}}}
	report := Report{document: d}
	for _, advice := range a.allAdvice() {
		row := page.Row(advice.setting, advice.value, advice.reason)
		reliable := limit == "" && r.Disturbed() == 0 || len(advice.figures) == 0
		if !reliable {
			row[1].Class = page.Unreliable
		}
		t.Rows = append(t.Rows, row)
		figures := map[string]float64{}
		for _, name := range advice.figures {
			for _, unit := range r.Units(name) {
				figures[name+" "+unit] = r.Summary(name, unit).Median
			}
		}
		report.lines = append(report.lines, map[string]any{
			"type": "advice", "setting": advice.setting, "value": advice.value, "because": advice.reason, "figures": figures, "reliable": reliable,
		})
	}
	report.document.Sections = []page.Section{
		{Title: "Settings", Tables: []page.Table{t}},
		{Title: "All figures", Tables: []page.Table{a.figuresTable()}, Pictures: a.charts(), Warnings: a.warnings(r.Names())},
	}
	return report
}

func (a *adviser) allAdvice() (list []advice) {
	list = append(list, a.procs(),
		a.workers("workers for tasks that compute", 0),
		a.workers("workers for tasks that wait as long as they compute", adviseWait))
	list = append(list, a.chunks()...)
	return append(list, a.goroutine(), a.threads())
}

// shareMin is the least share of the processors' time that tasks get on an idle machine if they
// only compute. The last tasks of a run do not keep all workers busy.
const shareMin = 0.8

// hiddenLimit reports that tasks which only compute got less than their processors although no
// other program took them, "" if they got them.
func (a *adviser) hiddenLimit() string {
	wanted := min(float64(a.cpus), a.quota)
	for _, workers := range adviseWorkers() {
		name := workersName(workers, a.cpus, 0)
		s := a.summary(figure{kind: busy, a: name})
		if s.N > 0 && s.Median > 0 && s.Median < shareMin*wanted && a.Disturbance(name) <= results.DisturbedMax {
			return fmt.Sprintf("tasks that only compute got the time of %s processors instead of %s, and this process cannot see which limit took the rest", digits(s.Median), digits(wanted))
		}
	}
	return ""
}

// unknownSetting reports a setting for which figures are missing.
func unknownSetting(setting, why string) advice { return advice{setting, "unknown", why, nil} }

func (a *adviser) procs() advice {
	const setting = "GOMAXPROCS"
	byDefault := strconv.Itoa(a.cpus) + ", Go's default"
	if allowed := max(1, int(math.Ceil(min(a.quota, float64(a.cpus))))); allowed < a.cpus {
		return advice{setting, strconv.Itoa(allowed), fmt.Sprintf("the container's quota allows the time of %s processors; more threads use it up sooner, and then all of them stand still. Go's default here is %d", digits(a.quota), a.cpus), nil}
	}
	if a.cpus == 1 {
		return advice{setting, byDefault, "this process may use one processor", nil}
	}
	names := []string{workersName(a.cpus, a.cpus, 0), workersName(a.cpus, 1, 0), channelAt(0, a.cpus), channelAt(0, 1)}
	if why := a.findMissing(names...); why != "" {
		return unknownSetting(setting, why)
	}
	work, idle := a.timeRatio(names[0], names[1]), a.timeRatio(names[2], names[3])
	return advice{setting, byDefault, fmt.Sprintf("compared with GOMAXPROCS 1, tasks that compute take %s the time at %d; two goroutines that only pass items to each other take %s",
		timesText(work), a.cpus, timesText(idle)), names}
}

// leastWorkers returns the least number of workers within 5 % of the fastest, and a text with
// all figures.
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
		return unknownSetting(setting, "it was not measured")
	}
	return advice{setting, fmt.Sprintf("%d (%d × processors)", least, least/a.cpus), "µs per task, by number of workers: " + text, names}
}

// charts returns the times from which the numbers of workers follow.
func (a *adviser) charts() []plot.Chart {
	line := func(title string, numbers []int, unit string, name func(int) string) plot.Line {
		l := plot.Line{Name: title}
		for _, n := range numbers {
			l.Points = append(l.Points, a.scaledPoint(float64(n), name(n), unit, 1e-3)...)
		}
		return l
	}
	tasks := plot.Chart{Title: "Tasks by workers", X: plot.Axis{Label: "workers", Log: true}, Y: plot.Axis{Label: "µs per task"}, Lines: []plot.Line{
		line("tasks that compute", adviseWorkers(), results.NsPerOp, func(n int) string { return workersName(n, a.cpus, 0) }),
		line("tasks that wait as long as they compute", adviseWorkers(), results.NsPerOp, func(n int) string { return workersName(n, a.cpus, adviseWait) }),
	}}
	file := func(n int) string { return a.o.fileTrial(n).Name }
	files := plot.Chart{Title: "Files by workers", X: plot.Axis{Label: "workers", Log: true},
		Y:     plot.Axis{Label: fmt.Sprintf("µs per file of %s bytes", readable.Number(adviseSize)), Log: true},
		Lines: []plot.Line{line("written", adviseThreads(), results.CreatePerOp, file), line("read", adviseThreads(), results.ReadPerOp, file)}}
	return append(tasks.Drawable(), files.Drawable()...)
}

// chunks returns the number of tasks to dispatch at a time, for one duration or several.
func (a *adviser) chunks() (list []advice) {
	single := DispatchName(muster, "single", a.cpus, adviseTasks, a.cpus)
	costs := []time.Duration{10 * time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, 10 * time.Microsecond}
	if a.o.Task > 0 {
		costs = []time.Duration{a.o.Task}
	}
	if why := a.findMissing(single); why != "" {
		return []advice{unknownSetting("tasks at a time", why)}
	}
	each := a.Summary(single, results.CPUPerOp).Median
	for _, cost := range costs {
		n := max(1, int(math.Ceil(each/(overheadMax*float64(cost)))))
		because := fmt.Sprintf("dispatching costs %s ns of processor time; for chunks of %s of %v that is at most 1 %%", digits(each), readable.Count(n, "task"), cost)
		value := fmt.Sprintf("%d per chunk", n)
		if n == 1 {
			value = "one by one"
		}
		list = append(list, advice{fmt.Sprintf("tasks of %v at a time", cost), value, because, []string{single}})
	}
	return list
}

// goroutine recommends work for a goroutine by its processor time, because programs seldom have
// idle processors to spare.
func (a *adviser) goroutine() advice {
	const setting = "a goroutine for each call"
	group, bare := SpawnName(muster, string(probe.Grouped), 1, adviseCalls, a.cpus), bareName(1, a.cpus)
	single := DispatchName(muster, "single", a.cpus, adviseTasks, a.cpus)
	if why := a.findMissing(group, bare, single); why != "" {
		return unknownSetting(setting, why)
	}
	added := a.Difference(group, bare, results.CPUPerOp)
	least, task := math.Max(0, added.Median), a.Summary(single, results.CPUPerOp)
	return advice{setting, "for at least " + digits(least/100) + " µs of work",
		fmt.Sprintf("WaitGroup.Go adds %s ns%s of processor time to a call, with %d goroutines at a time; that is a tenth of the recommended work. A task on a pool takes %s ns%s",
			digits(least), spreadText(added), probe.GroupSize, digits(task.Median), spreadText(task)), []string{group, bare, single}}
}

func (a *adviser) threads() advice {
	const setting = "workers for files"
	name := func(n int) string { return a.o.fileTrial(n).Name }
	write, wrote, names := a.leastWorkers(adviseThreads(), name, results.CreatePerOp)
	read, were, _ := a.leastWorkers(adviseThreads(), name, results.ReadPerOp)
	if write == 0 || read == 0 {
		return unknownSetting(setting, "it was not measured")
	}
	return advice{setting, strconv.Itoa(max(write, read)),
		fmt.Sprintf("µs per file of %s bytes, by number of workers: written %s; read %s; all in the system's cache: a disk that blocks needs more workers", readable.Number(adviseSize), wrote, were), names}
}
