package lab_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/lab"
	"muster/lab/results"
)

// render returns the results in every form: text, page and JSON lines.
func render(t testing.TB, r *lab.Results, report lab.Report) (text, page string, lines []map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := report.Text(&b); err != nil {
		t.Fatal(err)
	}
	text = b.String()
	b.Reset()
	if err := report.HTML(&b); err != nil {
		t.Fatal(err)
	}
	page = b.String()
	b.Reset()
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		var one map[string]any
		if err := json.Unmarshal(line, &one); err != nil || !bytes.HasPrefix(line, []byte(`{"type":"`)) {
			t.Fatalf("%v in %s", err, line)
		}
		lines = append(lines, one)
	}
	return text, page, lines
}

// expectRoundTrip checks that results are the same after writing and reading.
func expectRoundTrip(t testing.TB, r *lab.Results) {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := results.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	was := *r
	was.NotRun = 0
	if !reflect.DeepEqual(*again, was) {
		t.Errorf("written and read again:\n%+v\nit was:\n%+v", *again, was)
	}
}

// expectComplete checks the results of a run of count rounds, and returns the text and the
// page.
func expectComplete(t *testing.T, r *lab.Results, count int, report lab.Report) (text, page string) {
	t.Helper()
	if len(r.Samples) == 0 || r.NotRun != 0 {
		t.Fatalf("%d samples, %d not run", len(r.Samples), r.NotRun)
	}
	for name, n := range countSamples(r) {
		if n != count && !strings.HasPrefix(name, "Exhaust/") {
			t.Errorf("%s was measured %d times, not %d", name, n, count)
		}
	}
	expectRoundTrip(t, r)
	text, page, lines := render(t, r, report)
	figures, all := map[string]bool{}, 0
	for _, l := range lines {
		if l["type"] == "figure" {
			all++
			figures[l["name"].(string)] = true
		}
	}
	for _, name := range r.Names() {
		if !figures[name] {
			t.Errorf("no line of JSON for %s", name)
		}
	}
	last := lines[len(lines)-1]
	if last["type"] != "summary" || int(last["figures"].(float64)) != all || last["interrupted"] != false {
		t.Errorf("the last line is %v", last)
	}
	return text, page
}

// expectText checks that a text contains all wanted parts.
func expectText(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in:\n%.3000s", want, text)
		}
	}
}

// Each question in a tiny size with real probes: every figure exists, and every section has
// its content.
func TestDispatch(t *testing.T) {
	o := tinyDispatch(options(t, 2))
	o.Tasks = []int{100, 1000}
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := expectComplete(t, r, 2, lab.DispatchReport(r, o))
	expectText(t, text, "for 2 workers", "the median of 2 runs", "100 tasks", "1,000 tasks", "One by one, GOMAXPROCS 1", "Other ways to dispatch tasks", "too-short")
	if n := len(countSamples(r)); n != 2+5 {
		t.Errorf("%d figures, want two numbers of tasks and five other modes", n)
	}
}

func TestChannel(t *testing.T) {
	o := tinyChannel(options(t, 1))
	r, err := lab.Channel(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, page := expectComplete(t, r, 1, lab.ChannelReport(r, o))
	expectText(t, text, "Without a buffer", "With a buffer of 100 items", "Threads of the process", "Several processes", "one run in a process of its own")
	if n := strings.Count(page, "<svg"); n != 2+2+2 {
		t.Errorf("%d charts, want two for each buffer and two for the processes", n)
	}
	if n := len(countSamples(r)); n != 2*2*2+2*2*2+2 {
		t.Errorf("%d figures", n)
	}
}

func TestSpawn(t *testing.T) {
	o := tinySpawn(options(t, 2))
	r, err := lab.Spawn(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, page := expectComplete(t, r, 2, lab.SpawnReport(r, o))
	expectText(t, text, "Goroutine ÷ loop, GOMAXPROCS 1", "Goroutine ÷ loop, GOMAXPROCS 2", "µs per call", "in a loop", "in 100 goroutines", "Work for which a goroutine is cheap", "Memory of a goroutine")
	if strings.Contains(text, "other languages") {
		t.Error("a comparison without contestants")
	}
	if n := strings.Count(page, "<svg"); n != 2+1 {
		t.Errorf("%d charts", n)
	}
	if n := len(countSamples(r)); n != 2*2*(1+2*2)+2 {
		t.Errorf("%d figures", n)
	}
}

// Rows that take too long are left out, and the smaller row of the same contestant decides that.
func TestRowsThatTakeTooLong(t *testing.T) {
	o := tinyDispatch(fakeOptions(t, "whole", 2)) // 150 ns per task
	o.Tasks, o.RowMax = []int{10_000, 1_000_000, 2_000_000, 100_000_000}, time.Second/2
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for tasks, want := range map[int]string{10_000: "", 1_000_000: "", 2_000_000: results.TooLong, 100_000_000: results.TooLong} {
		if why := r.Why(lab.DispatchName("muster", "single", 2, tasks, 1)); why != want {
			t.Errorf("%d tasks: %q, want %q", tasks, why, want)
		}
	}
	text, _ := expectComplete(t, r, 2, lab.DispatchReport(r, o))
	expectText(t, strings.Join(strings.Fields(text), " "), "muster 150 * 150 * left out left out 150 1.00", "Where all runs of a contestant together would take more than 500ms, that number")
}

// Goroutines for which the memory does not suffice are left out, and the report says why.
func TestTooLittleMemory(t *testing.T) {
	o := tinySpawn(fakeOptions(t, "whole", 1))
	o.Goroutines, o.MemoryMax = []int{100, 700_000}, 1e9
	r, err := lab.Spawn(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if why := r.Why(lab.SpawnName("muster", "each", 1, 700_000, 1)); !strings.HasPrefix(why, results.TooLarge) {
		t.Errorf("700,000 goroutines in 1 GB: %q", why)
	}
	text, _ := expectComplete(t, r, 1, lab.SpawnReport(r, o))
	expectText(t, strings.Join(strings.Fields(text), " "), "procs=1 and 4 more: needs about 2.2 GB of memory, and 1.0 GB are free", "700,000 left out left out")
	if free := lab.MemoryFree(); runtime.GOOS == "linux" && (free < 1<<20 || free > 1<<50) {
		t.Errorf("%d bytes of memory are free", free)
	}
}

// No test file is left.
func TestIO(t *testing.T) {
	if testing.Short() {
		t.Skip("lines of logs, locks and wake-ups take some seconds")
	}
	o := tinyIO(t, options(t, 1))
	r, err := lab.IO(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := expectComplete(t, r, 1, lab.IOReport(r, o))
	expectText(t, text, "Operations on whole files", "\nEngines\n", "64 goroutines", "into 10 folders", "Log lines", "waking a thread", "with exit status 2")
	left, err := os.ReadDir(o.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// missing returns the missing contestants. It fails if MUSTER_REQUIRE=all requires them.
func missing(t *testing.T, r *lab.Results) map[string]bool {
	t.Helper()
	peers := map[string]bool{}
	for _, m := range r.Missing {
		peers[m.Peer] = true
		// Debian 12 has no JDK with virtual threads, nor has any registry; io_uring is the
		// machine's to allow.
		if m.Peer != "java-virtual" && m.Peer != "engine uring" && os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Errorf("%+v: scripts/install-test-tools installs it", m)
		}
	}
	return peers
}

// With all contestants.
func TestContestants(t *testing.T) {
	if testing.Short() {
		t.Skip("contestants take a minute to build, and change seldom")
	}
	o := options(t, 1)
	o.Peers = nil
	for name, run := range map[string]func(t *testing.T) (*lab.Results, lab.Report, error){
		"dispatch": func(t *testing.T) (*lab.Results, lab.Report, error) {
			o := tinyDispatch(o)
			r, err := lab.Dispatch(t.Context(), o)
			return r, lab.DispatchReport(r, o), err
		},
		"spawn": func(t *testing.T) (*lab.Results, lab.Report, error) {
			o := tinySpawn(o)
			r, err := lab.Spawn(t.Context(), o)
			return r, lab.SpawnReport(r, o), err
		},
		"io": func(t *testing.T) (*lab.Results, lab.Report, error) {
			o := tinyIO(t, o)
			r, err := lab.IO(t.Context(), o)
			return r, lab.IOReport(r, o), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, report, err := run(t)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := expectComplete(t, r, 1, report)
			lacking := missing(t, r)
			for peer, impls := range map[string][]string{
				"dispatch/go": {"channel", "article", "ants", "pond", "conc", "workerpool"}, "dispatch/cpp-std": {"cpp-std"},
				"dispatch/cpp-boost": {"cpp-boost"}, "dispatch/tbb": {"tbb-group", "tbb-parallel-for"}, "dispatch/openmp": {"openmp"},
				"dispatch/rust": {"rayon", "crossbeam"}, "dispatch/java": {"forkjoin"},
				"spawn/cpp-thread": {"cpp-thread"}, "spawn/rust-spawn": {"rust-thread", "rayon"}, "spawn/java-thread": {"java-thread"},
				"spawn/java-virtual": {"java-virtual"}, "spawn/erlang": {"erlang"},
				"io/cgo": {"a call into C"},
			} {
				question, program, _ := strings.Cut(peer, "/")
				if question != name {
					continue
				}
				if lacking[program] {
					expectText(t, text, "not here", program+": ")
					continue
				}
				expectText(t, text, impls...)
			}
		})
	}
}

// The program itself plays the article's contestant and a bare channel: they need no compiler.
func TestContestantsWithoutCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	o := tinyDispatch(options(t, 1))
	o.Peers = []string{"channel", "article", "go"}
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, impl := range []string{"channel", "article"} {
		if s := r.Summary(lab.DispatchName(impl, "single", 2, 1000, 1), results.NsPerOp); s.Median <= 0 {
			t.Errorf("%s: %+v, %+v", impl, s, r.Absent)
		}
		if why := r.Why(lab.DispatchName(impl, "batch", 2, 1000, 1)); why != results.NoSuchMode {
			t.Errorf("%s in batches: %q", impl, why)
		}
	}
	if len(r.Missing) != 1 || r.Missing[0].Peer != "go" {
		t.Errorf("missing %+v, want only the pools of other modules", r.Missing)
	}
}

// The list of peers selects contestants by language or by name. Muster always takes part, and
// is in Go.
func TestPeers(t *testing.T) {
	for _, peers := range [][]string{nil, {}, {"muster"}, {"go"}, {"erlang", "rayon"}, {"nobody"}} {
		o := tinySpawn(fakeOptions(t, "whole", 1))
		o.Peers, o.Cache = peers, t.TempDir()
		if peers == nil || len(peers) == 2 {
			t.Setenv("PATH", t.TempDir()) // all contestants are missing
			t.Setenv("JAVA_HOME", "")
		}
		r, err := lab.Spawn(t.Context(), o)
		if len(peers) == 1 && peers[0] == "nobody" {
			if expectInputError(t, err); err != nil {
				expectText(t, err.Error(), `unknown peer "nobody"`, "go, cpp, rust, java, erlang", "rust-thread")
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", peers, err)
			continue
		}
		var asked []string
		for _, m := range r.Missing {
			asked = append(asked, m.Peer)
		}
		if got := strings.Join(asked, " "); len(peers) < 2 && peers != nil && got != "" || len(peers) == 2 && got != "rust-spawn erlang" {
			t.Errorf("peers %q: missing %q", peers, got)
		}
	}
}
