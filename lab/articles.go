package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/lab/probe"
	"muster/lab/results"
)

// An article is a source of claims.
type article struct {
	title   string
	address string
	machine string // hardware and software of its measurements
	claims  []claim
}

// A claim is one statement of an article, and the figures that decide it.
type claim struct {
	number    int
	statement string // the statement, with the article's figures
	condition string // on the figures of this machine; LOW and HIGH are the bounds of the first judged part
	parts     []part // all judged parts must be within their bounds
	held      string // why it holds
	gone      string // why it no longer holds

	parallel bool   // needs two processors
	either   bool   // holds if some parts are within their bounds and others are not
	proviso  *part  // if its figure is outside its bounds, the claim is undecided, and text is the reason
	hint     *part  // if its figure is outside its bounds, text is added to the explanation
	unproven string // if set, a claim that does not hold is undecided for this reason
}

// A part is a figure of a claim. Its text shows the figure at %s. A part without bounds is
// only shown.
type part struct {
	text      string
	of        figure
	low, high float64
	above     string // why the claim no longer holds if this figure is above its bound; "" = as usual
}

// unbounded is the upper bound of a part that has only a lower one.
var unbounded = math.Inf(1)

// Bounds on the server's threads. At half as many threads as connections, about each
// connection has one. A pool may have its own threads, and as many again for everything else.
const (
	threadsUnbounded = uploadConnections / 2
	threadsBounded   = 2 * engineThreads
)

// corpusTimeMin is the least time of a run over the corpus for a verdict, in seconds. The
// start of the workers, some milliseconds each, is then negligible.
const corpusTimeMin = 2

// A setting holds the sizes and the machine on which the names and bounds of claims depend.
type setting struct {
	ClaimSizes
	cpus   int     // processors that the program could use; 0 = nothing was measured
	memory float64 // bytes; 0 = unknown
}

// articles returns all articles with their claims.
func (s setting) articles() []article {
	return []article{
		{"Multithreaded Go programming (2011)", "habr.com/ru/post/117842; C++ threads against Go threads, easy-coding.blogspot.com, 18 April 2011",
			"8 processors, 64-bit Linux, Go (early 2011), Boost 1.46.1", s.poolClaims()},
		{"Go: multithreading (2013)", "habr.com, an answer to habrahabr.ru/post/195574", "4 cores of 3 GHz, 4 GB, Linux 3.11, Go 1.1.2", s.channelClaims()},
		{"Go: goroutine performance (2012)", "habr.com/ru/post/135587", "a nettop with 2 cores", s.goroutineClaims()},
		{"Solve the problem of creating too many threads for Go file operation (2021)", "and its repository GoFsBench", "two virtual machines and a hard disk", s.fileClaims()},
	}
}

func (s setting) poolClaims() []claim {
	none, one, many := corpusName(muster, 0), corpusName(muster, 1), corpusName(muster, claimWorkers)
	each, twice := corpusName(muster, s.cpus), corpusName(muster, 2*s.cpus)
	boost := DispatchName("cpp-boost", "single", claimJobs, s.Tasks, 0)
	article := func(procs int) string { return DispatchName("article", "single", claimJobs, s.Tasks, procs) }
	long := &part{"a run over the corpus takes %s s, so the start of the workers distorts it: measure the article's size with --full",
		figure{kind: total, a: none, factor: float64(s.Cases) / 1e9}, corpusTimeMin, unbounded, ""}
	return []claim{
		{number: 1, statement: "Compiling 15,000 sources one after another leaves the processors 70 to 88 % idle (213.81 s elapsed, 248.64 s of processor time, 8 processors).",
			condition: "LOW to HIGH processors are busy", parallel: true,
			parts: []part{within(fmt.Sprintf("%%s of %d processors busy", s.cpus), figure{kind: busy, a: none}, 0.5, 1.3)},
			held:  "one compiler at a time uses one processor", gone: "the compiler itself uses several processors, or waits for its disk"},
		{number: 2, statement: "A pool with one worker takes about 2 % longer (217.87 s instead of 213.81 s).",
			condition: "at most 5 % longer", proviso: long,
			parts: []part{within("%s", ratio(one, none), 0, 1.05)},
			held:  "compared with a compiler, the dispatch of a case costs little", gone: "compared with a compiler as fast as this one, the dispatch of a case no longer costs little"},
		{number: 3, statement: "A pool with 32 workers is 5.6 times as fast on 8 processors, which stay 17 % idle.",
			condition: "at least 0.7 times as fast per processor", parallel: true, proviso: long,
			parts: []part{within(fmt.Sprintf("%%s as fast on %d processors", s.cpus), ratio(none, many), 0.7*float64(s.cpus), unbounded)},
			held:  "32 compilers keep every processor busy", gone: "more compilers than processors only take turns: see the figure for one worker per processor"},
		{number: 4, statement: "A custom program is faster than make -j (stated, not measured).",
			condition: "takes less time than GNU make with the same number of jobs", proviso: long,
			parts: []part{within("make takes %s", ratio(corpusName(makeImpl, s.cpus), each), 1, unbounded)},
			held:  "muster is faster although it digests and keeps everything that a case produces; make keeps only the output",
			gone:  "make keeps only the output; muster also starts workers, and digests and keeps everything that a case produces"},
		{number: 5, statement: "Twice as many workers as processors keep them busy without needless switches.",
			condition: "at least 1 % faster than with one worker per processor", proviso: long,
			parts: []part{within("one worker per processor takes %s the time of two", ratio(each, twice), 1.01, unbounded)},
			held:  "a second worker uses the processor between two compilers of the first",
			gone:  "a compiler that does not wait for a disk keeps its processor busy, so further workers only add switches"},
		{number: 6, statement: "At GOMAXPROCS 1 Go dispatches a trivial task about nine times as fast as C++ with Boost (38.27 s instead of 327.37 s for 100,000,000 tasks, 8 workers).",
			condition: "at least LOW times as fast",
			parts:     []part{within("%s", ratio(boost, article(1)), 6, unbounded)},
			held:      "a channel passes a task on within one thread, and C++ wakes a system thread",
			gone:      "mutexes and wake-ups of threads have become cheaper, and C++ moves a task instead of copying it"},
		{number: 7, statement: "At GOMAXPROCS 8 Go is nearly as slow as C++.",
			condition: "takes at least 70 % of C++'s time",
			parts:     []part{within("%s", ratio(article(claimJobs), boost), 0.7, unbounded)},
			held:      "every task wakes a thread", gone: "Go's scheduler no longer wakes a thread for each runnable goroutine"},
	}
}

func channelAt(cycles, procs int) string { return ChannelName(0, cycles, procs, 0) }

func (s setting) channelClaims() []claim {
	var against, twoToOne []part
	for i, procs := range claimProcs()[1:] {
		before := ", "
		if i == 0 {
			before = "time relative to GOMAXPROCS 1, at "
		}
		against = append(against, within(fmt.Sprintf("%s%d: %%s", before, procs), ratio(channelAt(0, procs), channelAt(0, 1)), 1, unbounded))
	}
	for i, cycles := range claimCycles() {
		before := ", "
		if i == 0 {
			before = "time at 2 ÷ time at 1, "
		}
		twoToOne = append(twoToOne, within(fmt.Sprintf("%s%d cycles: %%s", before, cycles), ratio(channelAt(cycles, 2), channelAt(cycles, 1)), 0, 1))
	}
	few, many := insertName(claimWriters()[0]), insertName(claimWriters()[1])
	processes := min(s.cpus, processesMax)
	return []claim{
		{number: 8, statement: "A channel is fastest at GOMAXPROCS 1.", condition: "no other value is faster", parallel: true, parts: against,
			held: "both goroutines take turns on one processor at any GOMAXPROCS", gone: "further processors take over some of the work"},
		{number: 9, statement: "At GOMAXPROCS 2 a channel is about two times slower, while threads mostly sleep.",
			condition: "takes LOW to HIGH times as long", parallel: true,
			parts: []part{within("%s", ratio(channelAt(0, 2), channelAt(0, 1)), 1.5, 2.5).
				orAbove("compared with an item, waking a thread takes longer than it did")},
			held: "a channel wakes its goroutines on other threads", gone: "a goroutine that a channel wakes runs next on the same thread"},
		{number: 10, statement: "From GOMAXPROCS 3 to 256 each step regains a little; about 10 % remains lost.",
			condition: "256 is at least 1 % faster than 2, and takes 2 to 25 % longer than 1", parallel: true,
			parts: []part{within("at 256: %s the time at 2", ratio(channelAt(0, 256), channelAt(0, 2)), 0, 0.99),
				within(", and %s the time at 1", ratio(channelAt(0, 256), channelAt(0, 1)), 1.02, 1.25)},
			held: "more processors find runnable goroutines sooner", gone: "nothing was lost: a GOMAXPROCS above the number of runnable goroutines costs next to nothing"},
		{number: 11, statement: "The process has 3 threads at GOMAXPROCS 1, and 4, sometimes 5 or 6, from 2 on, for any number of processors.",
			condition: "3 threads at 1, and 4 to 6 at 2 and at 256",
			parts: []part{within("%s at 1", count(channelAt(0, 1), results.Threads), 3, 3), within(", %s at 2", count(channelAt(0, 2), results.Threads), 4, 6),
				within(", %s at 256", count(channelAt(0, 256), results.Threads), 4, 6)},
			held: "the runtime has threads of its own, and starts others only for runnable goroutines",
			gone: "since Go 1.5 the garbage collector runs beside the program, on a quarter of GOMAXPROCS, and each of its workers needs a thread"},
		{number: 12, statement: "GOMAXPROCS cannot exceed 256, and defaults to 1.", condition: "a request for 300 gives at most 256, and the default is 1",
			parts: []part{within("a request for 300 gives %s", count(procsName(300), results.Procs), 1, 256), within("; the default is %s", count(procsName(0), results.Procs), 1, 1)},
			held:  "this process may use one processor, and the limit is as it was",
			gone:  "since Go 1.5 the default is the number of processors; since Go 1.10 the limit is beyond practical values"},
		{number: 13, statement: "With enough work beside the channel, more processors win.",
			condition: "with 1,000,000 loop iterations per item (about 0.3 ms), GOMAXPROCS 2 takes at most 0.8 of the time of 1", parallel: true,
			parts: []part{within("%s", ratio(channelAt(1_000_000, 2), channelAt(1_000_000, 1)), 0, 0.8)},
			held:  "both goroutines work at the same time when the work dominates",
			gone:  "a goroutine that a channel wakes runs next on the same thread, so both take turns even then"},
		{number: 14, statement: "Whether more processors help depends on the task.",
			condition: "GOMAXPROCS 2 is slower than 1 for some number of cycles, and faster for another", parallel: true, either: true, parts: twoToOne,
			held: "parallel work gains time, and the exchange of items costs time", gone: "every tried number of cycles has the same result"},
		{number: 15, statement: "1,000 goroutines write to a database about 10 times as fast as 20, nearly in proportion, and take 40 MB.", condition: "at least LOW times as fast",
			parts: []part{within("%s as many rows a second", ratio(few, many), 5, unbounded), shown(", with %s MB", figure{kind: total, a: many, unit: results.ClientRSS, factor: 1e-6})},
			held:  "writers share flushes of the server's log", gone: "the server's processors and log are the limit; goroutines without a connection only wait"},
		{number: 16, statement: "N processes with GOMAXPROCS 1 on N processors do N times as much (a reader's comment).", condition: "at least 0.9 × N times as much", parallel: true,
			parts: []part{within(fmt.Sprintf("%%s with %d processes", processes), ratio(ChannelName(0, 0, 1, 1), ChannelName(0, 0, 1, processes)), 0.9*float64(processes), unbounded)},
			held:  "the processes share only the machine's caches, memory and clock rate", gone: "processors that share a core or a host deliver less than a whole processor each"},
	}
}

// slowdownOf returns the time of goroutines ÷ the time of the article's loop, at GOMAXPROCS 1.
func (s setting) slowdownOf(work int) figure {
	calls := claimCalls(s.ClaimSizes, work)
	return ratio(goName(work, calls, 1), loopName(work, calls, 1))
}

// speedupAtTwo returns the time of goroutines at GOMAXPROCS 1 ÷ their time at 2.
func (s setting) speedupAtTwo(work int) figure {
	calls := claimCalls(s.ClaimSizes, work)
	return ratio(goName(work, calls, 1), goName(work, calls, 2))
}

func (s setting) goroutineClaims() []claim {
	const (
		fasterRoots = "a root and the send of its result have become faster by more than a goroutine; many goroutines alive at once need new memory for their stacks"
		erlangMost  = 20e6 // processes
	)
	alive := readable.Number(int64(s.Goroutines))
	waiting, erlang := SpawnName(muster, "waiting", 0, s.Goroutines, 1), SpawnName("erlang", "waiting", 1, s.Goroutines, 0)
	calls := claimCalls(s.ClaimSizes, 1)
	each, loop := goName(1, calls, 1), loopName(1, calls, 1)
	added := func(factor float64) figure { return figure{kind: difference, a: each, b: loop, factor: factor} }
	cheap := []part{within("ten: %s", s.slowdownOf(10), 0, 1.5), within(", a hundred: %s", s.slowdownOf(100), 0, 1.05)}
	if s.Goroutines >= claimManyRoot {
		cheap = append(cheap, shown(fmt.Sprintf(", ten with %s alive: %%s", readable.Number(claimManyRoot)), ratio(goName(10, claimManyRoot, 1), loopName(10, claimManyRoot, 1))))
	}
	memory, enough := "the system does not report its memory", ""
	if s.memory > 0 {
		memory = fmt.Sprintf("this machine has %s GB", digits(s.memory/1e9))
		enough = memory
	}
	return []claim{
		{number: 17, statement: "A goroutine takes 4 to 4.5 KB; 5 GB suffice for a million.", condition: "LOW to HIGH bytes",
			parts: []part{within("%s bytes each with "+alive+" waiting goroutines", count(waiting, results.SysPerOp), 4_000, 4_700).orAbove("they take more than a stack of the least size and its overhead"),
				shown(", including %s of stack", count(waiting, results.StackPerOp))},
			held: "a stack of 4 KB dominates", gone: "a stack starts with 2 KB since Go 1.4, instead of 4 KB"},
		{number: 18, statement: "A call that sends one square root over a channel takes about 4 times as long in a goroutine as in a loop.", condition: "LOW to HIGH times as long",
			parts: []part{within("%s with "+readable.Number(int64(calls))+" alive", s.slowdownOf(1), 3, 5).orAbove(fasterRoots),
				shown("; a loop without sends takes %s the time of the loop", ratio(bareName(1, 1), loop))},
			held: "both have become faster by the same factor", gone: "the start of a goroutine has become faster by more than a root"},
		{number: 19, statement: "With ten roots a goroutine costs about 20 %, or 80 % with 700,000 alive; with a hundred roots 2 %.",
			condition: "at most 50 % with ten roots, and at most 5 % with a hundred", parts: cheap, held: fasterRoots, gone: fasterRoots},
		{number: 20, statement: "With 1,000 roots a goroutine costs 2 %, with 5,000 roots 1 %.", condition: "at most 4 %, and at most 2 %",
			parts: []part{within("1,000: %s", s.slowdownOf(1000), 0, 1.04), within(", 5,000: %s", s.slowdownOf(5000), 0, 1.02),
				shown("; a goroutine adds %s ns", added(1))},
			held: "the work takes far longer than the start of a goroutine", gone: "a root takes a few ns today, so the start of a goroutine is no longer small beside the work"},
		{number: 21, statement: "For the two smallest functions, goroutines are slower at GOMAXPROCS 2 than at 1.", condition: "slower for both", parallel: true,
			parts: []part{within("%s as fast with 1 root", s.speedupAtTwo(1), 0, 0.99), within(", %s with 10 roots", s.speedupAtTwo(10), 0, 0.99)},
			held:  "threads wake one another for too little work", gone: "the scheduler wakes a second thread, which takes over goroutines of the first"},
		{number: 22, statement: "For the two largest functions, goroutines use both cores almost fully.", condition: "at least LOW times as fast at GOMAXPROCS 2, for both", parallel: true,
			parts: []part{within("%s as fast with 1,000 roots", s.speedupAtTwo(1000), 1.8, unbounded), within(", %s with 5,000 roots", s.speedupAtTwo(5000), 1.8, unbounded)},
			held:  "the work dominates, and both processors share it", gone: "both processors share the work, but not equally the start of goroutines and the garbage collection"},
		{number: 23, statement: "Do not use a goroutine for less than 1 µs of work; use it freely above 1 ms.",
			condition: "a goroutine adds at least a tenth to 1 µs, and at most a hundredth to 1 ms",
			parts: []part{within("a goroutine adds %s ns", added(1), 100, 10_000), shown(": %s % of 1 µs", added(1.0/10)), shown(", %s % of 1 ms", added(1e-4)),
				shown(", and a tenth of %s µs", added(1.0/100))},
			held: "starting a goroutine and keeping it alive costs as much as some hundred roots",
			gone: "starting a goroutine and keeping it alive costs another share of the work than it did"},
		{number: 24, statement: "Erlang has run 20 million processes (quoted).", condition: "this machine has enough memory for 20 million",
			parts: []part{within("%s bytes each with "+alive, count(erlang, results.RSSPerOp), 0, max(s.memory, 1)/erlangMost),
				shown(": 20 million need %s GB", figure{kind: total, a: erlang, unit: results.RSSPerOp, factor: erlangMost / 1e9})},
			held: enough, unproven: memory},
	}
}

// largeUpload returns the name of an upload of the article's size.
func largeUpload(engine string, bound bool) string { return upload{engine, bound, uploadLarge}.name() }

func (s setting) fileClaims() []claim {
	direct, small := largeUpload(probe.Direct, false), upload{probe.Direct, false, uploadSmall}.name()
	protobuf, json := echoName("protobuf"), echoName("json")
	fewRenames := ""
	if s.Renames < claimRenames {
		fewRenames = "so few files do not show the effect of two million: measure the article's size with --full"
	}
	// pooled is a claim about uploads through a bounded number of threads.
	pooled := func(number int, name, statement string, low, high float64) claim {
		return claim{number: number, statement: statement,
			condition: fmt.Sprintf("at most %d threads, and LOW to HIGH times as many uploads", threadsBounded),
			parts: []part{
				within("%s as many", ratio(direct, name), low, high).orAbove("a whole file is one job here, not one job per page of 4 KB, so the handover costs little; fewer files at a time wait less for one another"),
				shown(": %s a second", rate(name)),
				within(", %s threads", count(name, results.Threads), 1, threadsBounded).orAbove("sockets also keep threads for moments, and more of them when the processors are overloaded"),
			},
			held: "few threads keep the disk as busy as many, at about the cost of the handover",
			gone: "compared with a file operation, the handover to another thread costs more than it did",
			hint: &part{"; this disk takes writes into memory at once, and a pool shows its benefit only on a disk that blocks (--dir)", count(direct, results.Threads), threadsUnbounded, unbounded, ""},
		}
	}
	return []claim{
		{number: 25, statement: "500 connections that upload 50 KB without a pool: 1,176 uploads a second, 512 system threads.", condition: "the server has at least LOW threads",
			parts: []part{shown("%s a second", rate(direct)), within(", %s threads", count(direct, results.Threads), threadsUnbounded, unbounded)},
			held:  "each upload that waits for the disk keeps a thread",
			// Few threads only mean that the disk lets no upload wait.
			unproven: "this disk takes writes into memory at once; with --dir, name a folder on a slow disk"},
		pooled(26, largeUpload(probe.Pool, false), "With a pool of 32 threads in Go: 1,154 uploads a second (0.98 times as many), 48 threads.",
			0.91, 1.05),
		pooled(27, largeUpload(probe.CThreads, true), "With a pool of 32 threads in C, bound to processors: 1,045 uploads a second (0.89 times as many), 50 threads.",
			0.82, 0.96),
		pooled(28, largeUpload(probe.CThreads, false), "With a pool of 32 threads in C, not bound: 1,102 uploads a second (0.94 times as many), 50 threads.",
			0.87, 1.01),
		{number: 29, statement: "Uploads of 5,000 bytes: 7,913 a second, 6.7 times as many.", condition: "at least LOW times as many",
			parts: []part{within("%s as many", ratio(direct, small), 4, unbounded), shown(": %s a second", rate(small)), shown(", %s threads", count(small, results.Threads))},
			held:  "the disk is so slow that its time per byte dominates an upload", gone: "the disk is fast, so the fixed cost of a request dominates"},
		{number: 30, statement: "A regular file cannot be polled, so each waiting operation keeps a thread, and Go ends a program with more than 10,000 threads.",
			condition: "Go's limit is LOW threads, and Go ends a program that exceeds its limit",
			parts: []part{within("Go's limit is %s threads", count(exhaustName, results.ThreadsMax), 10_000, 10_000), shown("; with a limit of %s", count(exhaustName, results.Threads)),
				within(" a program ended with exit status %s", count(exhaustName, results.Status), 2, 2)},
			held: "a blocking pipe stands for reads that the poller cannot handle", gone: "Go has another limit, or ends the program in another way"},
		{number: 31, statement: "Over 500 connections, protobuf transfers 157,000 messages a second, and JSON 114,000: 1.38 times as many.", condition: "LOW to HIGH times as many",
			parts: []part{within("%s as many", ratio(json, protobuf), 1.2, 1.6), shown(": %s", rate(protobuf)), shown(" and %s a second", rate(json))},
			held:  "the socket dominates the cost of both", gone: "the socket dominates the cost of both"},
		{number: 32, statement: "Renaming two million files takes 183 to 320 s into one folder, and 33 to 46 s into ten: 4 to 9 times as fast.", condition: "at least twice as fast",
			parts: []part{within("%s with "+readable.Number(int64(s.Renames))+" files", ratio(renameName(1), renameName(10)), 2, unbounded)},
			held:  "the names of a folder are one long list to search or split", gone: "the file system stores folders as trees, or its disk is in memory", unproven: fewRenames},
	}
}

// holdsIf returns the condition with its bounds.
func (c claim) holdsIf() string {
	i := slices.IndexFunc(c.parts, part.judged)
	if i < 0 {
		return c.condition
	}
	return strings.NewReplacer("LOW", bound(c.parts[i].low), "HIGH", bound(c.parts[i].high)).Replace(c.condition)
}

func bound(v float64) string {
	if v == math.Trunc(v) {
		return readable.Number(int64(v))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func within(text string, of figure, low, high float64) part {
	return part{text: text, of: of, low: low, high: high}
}
func shown(text string, of figure) part { return part{text: text, of: of} }

// orAbove returns the part with a reason for a figure above its bound.
func (p part) orAbove(reason string) part {
	p.above = reason
	return p
}

func ratio(a, b string) figure       { return figure{kind: quotient, a: a, b: b} }
func count(name, unit string) figure { return figure{kind: total, a: name, unit: unit, counted: true} }
func rate(name string) figure        { return figure{kind: perSecond, a: name, unit: results.NsPerOp} }
