package lab_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"muster/lab"
	"muster/lab/results"
)

// shown renders results in every form and returns them: text, page and JSON lines.
func shown(t testing.TB, r *lab.Results, report lab.Report) (text, page string, lines []map[string]any) {
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

// readAgain checks that what is written is read again as it was.
func readAgain(t testing.TB, r *lab.Results) {
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

// complete checks results of a run of so many rounds, and returns what is shown.
func complete(t *testing.T, r *lab.Results, count int, report lab.Report) (text, page string) {
	t.Helper()
	if len(r.Samples) == 0 || r.NotRun != 0 {
		t.Fatalf("%d samples, %d not run", len(r.Samples), r.NotRun)
	}
	for name, n := range times(r) {
		if n != count && !strings.HasPrefix(name, "Exhaust/") {
			t.Errorf("%s was measured %d times, not %d", name, n, count)
		}
	}
	readAgain(t, r)
	text, page, lines := shown(t, r, report)
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

// says checks that a text has all of these.
func says(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%.3000s", want, text)
		}
	}
}

// Each question in a tiny size, with real probes: every figure is there, every section
// has what it promises.
func TestDispatch(t *testing.T) {
	o := tinyDispatch(options(t, 2))
	o.Tasks = []int{100, 1000}
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := complete(t, r, 2, lab.DispatchReport(r, o))
	says(t, text, "for 2 workers", "the median of 2 runs", "100 tasks", "1,000 tasks", "One by one, GOMAXPROCS 1", "Other ways to hand them out", "too-short")
	if n := len(times(r)); n != 2+5 {
		t.Errorf("%d figures, want two numbers of tasks and five other modes", n)
	}
}

func TestChannel(t *testing.T) {
	o := tinyChannel(options(t, 1))
	r, err := lab.Channel(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, page := complete(t, r, 1, lab.ChannelReport(r, o))
	says(t, text, "Without a buffer", "With 100 places", "How many threads there are", "Several processes instead", "one run in a process of its own")
	if n := strings.Count(page, "<svg"); n != 2+2+1 {
		t.Errorf("%d charts, want two for each buffer and one of the processes", n)
	}
	if n := len(times(r)); n != 2*2*2+2*2+2 {
		t.Errorf("%d figures", n)
	}
}

func TestSpawn(t *testing.T) {
	o := tinySpawn(options(t, 2))
	r, err := lab.Spawn(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, page := complete(t, r, 2, lab.SpawnReport(r, o))
	says(t, text, "Goroutine ÷ loop, GOMAXPROCS 1", "Goroutine ÷ loop, GOMAXPROCS 2", "From which work on a goroutine is cheap", "What a goroutine takes of memory")
	if strings.Contains(text, "other languages") {
		t.Error("a comparison with nobody")
	}
	if n := strings.Count(page, "<svg"); n != 2*2+1 {
		t.Errorf("%d charts", n)
	}
	if n := len(times(r)); n != 2*2*(1+2)+2 {
		t.Errorf("%d figures", n)
	}
}

// Nothing of what was written is left behind.
func TestIO(t *testing.T) {
	if testing.Short() {
		t.Skip("lines of logs, locks and wake-ups take some seconds")
	}
	o := tinyIO(t, options(t, 1))
	r, err := lab.IO(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := complete(t, r, 1, lab.IOReport(r, o))
	says(t, text, "Operations on whole files", "\nEngines\n", "64 goroutines", "into 10 folders", "Lines of a log", "waking a thread", "A program with too many threads")
	if strings.Contains(text, "cannot be told here") {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Error("there are too few threads here")
		}
	} else {
		says(t, text, "it ended with status 2")
	}
	left, err := os.ReadDir(o.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// missing reports contestants that could not be built, and fails where none may be.
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

// With every contestant that there is.
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
			text, _ := complete(t, r, 1, report)
			lacking := missing(t, r)
			for peer, impls := range map[string][]string{
				"dispatch/go": {"channel", "article", "ants", "pond", "conc", "workerpool"}, "dispatch/cpp-std": {"cpp-std"},
				"dispatch/cpp-boost": {"cpp-boost"}, "dispatch/tbb": {"tbb-group", "tbb-parallel-for"}, "dispatch/openmp": {"openmp"},
				"dispatch/rust": {"rayon", "crossbeam"}, "dispatch/java": {"forkjoin"},
				"spawn/cpp-thread": {"cpp-thread"}, "spawn/rust-spawn": {"rust-thread", "rayon"}, "spawn/java-thread": {"java-thread"},
				"spawn/java-virtual": {"java-virtual"}, "spawn/erlang": {"erlang"},
				"io/cgo": {"a call into C"}, "io/codec": {"protobuf", "json"},
			} {
				question, program, _ := strings.Cut(peer, "/")
				if question != name {
					continue
				}
				if lacking[program] {
					says(t, text, "not here", program+": ")
					continue
				}
				says(t, text, impls...)
			}
		})
	}
}

// A list of peers narrows who takes part: by language or by name. Muster takes part
// always, and is in Go.
func TestPeers(t *testing.T) {
	for _, peers := range [][]string{nil, {}, {"muster"}, {"go"}, {"erlang", "rayon"}, {"nobody"}} {
		o := tinySpawn(faked(t, "whole", 1))
		o.Peers, o.Cache = peers, t.TempDir()
		if peers == nil || len(peers) == 2 {
			t.Setenv("PATH", t.TempDir()) // whoever is looked for is missing
			t.Setenv("JAVA_HOME", "")
		}
		r, err := lab.Spawn(t.Context(), o)
		if len(peers) == 1 && peers[0] == "nobody" {
			if mistake(t, err); err != nil {
				says(t, err.Error(), `no peer "nobody"`, "go, cpp, rust, java, erlang", "rust-thread")
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
			t.Errorf("peers %q: %q were looked for", peers, got)
		}
	}
}
