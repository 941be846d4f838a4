package observation_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/observation"
	"muster/regress/internal/outcome"
	"muster/regress/lane/observe"
)

// machine is an executor that plays cases. Each case uses files of its own.
type machine struct {
	uses     func(caseName string) []string
	contact  map[string]string // by case
	observed []string          // names, one for each observed run
	slowdown time.Duration     // of an observed run, whose plain run takes a second
	ending   regress.Ending
	kind     observe.Kind // of all uses, if they are not just opened
	limited  bool         // observed runs reach a limit
	dated    bool         // no two outcomes are the same
	detour   int          // number of observed runs that go another way
	fails    int          // number of observed runs that fail
	err      error
	mu       sync.Mutex
}

func (m *machine) Run(_ context.Context, j exec.Job) (*exec.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	r := &exec.Result{Outcome: outcome.Outcome{Ending: m.ending}, Cost: outcome.Cost{Wall: time.Second}}
	if !j.Observe {
		return r, nil
	}
	m.observed = append(m.observed, j.Source.Name)
	if m.fails > 0 {
		m.fails--
		return nil, errors.New("a bad disk")
	}
	r.Cost.Wall *= m.slowdown
	r.Observed = &observe.Observation{Contact: m.contact[j.Source.Name]}
	for _, path := range m.uses(j.Source.Name) {
		r.Observed.Accesses = append(r.Observed.Accesses, observe.Access{Path: path, Kind: observe.Opened | m.kind})
	}
	if m.dated {
		r.Outcome.Parts = []outcome.Part{{Digest: outcome.Of([]byte{byte(len(m.observed))})}}
	}
	if m.limited {
		r.Outcome.Ending.Kind = regress.TimedOut
	}
	if m.detour > 0 {
		m.detour--
		r.Outcome.Ending.Code = 99
		r.Observed.Accesses = nil
	}
	return r, nil
}

func (m *machine) RunAll(ctx context.Context, b exec.Batch) int {
	for i, j := range b.Jobs {
		r, err := m.Run(ctx, j)
		b.Ended(i, r, err)
	}
	return len(b.Jobs)
}

func (m *machine) Floor() int64          { return 0 }
func (m *machine) OwnCPU() time.Duration { return 0 }
func (m *machine) Close() error          { return nil }

var command = &exec.Command{}

func jobs(from, to int) (list []exec.Job) {
	for i := from; i < to; i++ {
		list = append(list, exec.Job{Source: corpus.Entry{Name: fmt.Sprint(i)}, Command: command})
	}
	return list
}

// rig observes a machine whose cases all use one file.
type rig struct {
	*testing.T
	m       *machine
	o       *observation.Observer
	dir     string
	grown   []string // paths
	warned  []string
	decided exec.Executor
}

func newRig(t *testing.T, all bool) *rig {
	r := &rig{T: t, dir: t.TempDir()}
	r.put("common")
	r.m = &machine{slowdown: 1, uses: func(string) []string { return []string{r.at("common")} }}
	r.o = observation.New(observation.Options{
		Digests: filedigest.Open(""), All: all,
		Grown: func(c *closure.Closure) {
			for _, f := range c.Files {
				r.grown = append(r.grown, filepath.Base(f.Path))
			}
			for _, p := range c.Places {
				r.grown = append(r.grown, filepath.Base(p.Path))
			}
		},
		Warn: func(why string) { r.warned = append(r.warned, why) },
	})
	r.decided = r.o.Decorate(r.m)
	return r
}

func (r *rig) at(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) put(name string) {
	r.Helper()
	if err := os.WriteFile(r.at(name), []byte(name), 0o644); err != nil {
		r.Fatal(err)
	}
}

// first observes the first cases, and returns the base names of the files.
func (r *rig) first(list []exec.Job) (files []string, blind string) {
	r.Helper()
	c, blind, err := r.o.First(context.Background(), r.m, list)
	if err != nil {
		r.Fatal(err)
	}
	for f := range c.All() {
		files = append(files, filepath.Base(f.Path))
	}
	return files, blind
}

// run runs cases in batches of ten.
func (r *rig) run(from, to int) {
	for ; from < to; from += 10 {
		r.decided.RunAll(context.Background(), exec.Batch{Jobs: jobs(from, min(from+10, to)), Ended: func(int, *exec.Result, error) {}})
	}
}

func (r *rig) wantObserved(names ...string) {
	r.Helper()
	if !slices.Equal(r.m.observed, names) {
		r.Errorf("observed %q, want %q", r.m.observed, names)
	}
	r.m.observed = nil
}

// After the first cases, one in a hundred is observed.
func TestOneInAHundred(t *testing.T) {
	r := newRig(t, false)
	if files, blind := r.first(jobs(0, 1)); blind != "" || !slices.Equal(files, []string{"common"}) {
		t.Errorf("%q, blind %q", files, blind)
	}
	r.wantObserved("0")
	r.run(0, 301)
	r.wantObserved("100", "200", "300")
	if got := r.o.Cases(); got != 4 || len(r.grown) != 0 {
		t.Errorf("%d cases, grown %q", got, r.grown)
	}
}

// While cases use new files, one in ten is observed. What they add is reported once.
func TestOneInTen(t *testing.T) {
	r := newRig(t, false)
	r.first(jobs(0, 1))
	r.put("late")
	r.m.uses = func(name string) []string {
		if name == "100" || name == "110" {
			return []string{r.at("common"), r.at("late"), r.at("none " + name)}
		}
		return []string{r.at("common")}
	}
	r.run(0, 301)
	r.wantObserved("0", "100", "110", "120", "267") // so that five runs take 1.5 % of the time and one more
	if want := []string{"late", "none 100", "none 110"}; !slices.Equal(r.grown, want) {
		t.Errorf("grown %q, want %q", r.grown, want)
	}
}

// With All each case is observed.
func TestAll(t *testing.T) {
	r := newRig(t, true)
	r.first(jobs(0, 2))
	r.m.observed = nil
	r.run(0, 5)
	r.wantObserved("2", "3", "4")
	if got := r.o.Cases(); got != 5 {
		t.Errorf("%d cases", got)
	}
}

// Observed runs that take long are fewer: at most 1.5 % of the time, and the last one.
func TestShare(t *testing.T) {
	r := newRig(t, false)
	r.m.slowdown = 20
	r.run(0, 10_000)
	if n := len(r.m.observed); n < 7 || n > 9 {
		t.Errorf("%d of 10,000 cases were observed: %q", n, r.m.observed)
	}
}

// A run that went another way than the plain one is made again, at most three times. So is a first
// one, once its plain run is known.
func TestDetour(t *testing.T) {
	r := newRig(t, true)
	r.m.detour = 1
	if files, _ := r.first(jobs(0, 1)); len(files) != 0 {
		t.Errorf("%q", files)
	}
	r.wantObserved("0")
	r.run(0, 1)
	r.wantObserved("0")
	if want := []string{"common"}; !slices.Equal(r.grown, want) {
		t.Errorf("grown %q, want %q", r.grown, want)
	}
	r.m.detour = 9
	r.run(1, 2)
	r.wantObserved("1", "1", "1")
	r.m.detour, r.m.dated = 0, true
	r.run(2, 3)
	r.wantObserved("2", "2")
}

// Cases that each use files of their own make the next observed case early a hundred times at most.
func TestFilesOfEachCase(t *testing.T) {
	r := newRig(t, false)
	r.m.slowdown = 0
	r.m.uses = func(caseName string) []string { return []string{r.at(caseName)} }
	r.first(jobs(0, 1))
	r.run(0, 3000)
	// one at first, then each tenth of a thousand cases, and each hundredth of the others
	if n := len(r.m.observed); n < 119 || n > 123 {
		t.Errorf("%d of 3,000 cases were observed", n)
	}
}

// A path that later cases use in another way is looked at again: a folder that they list, a file that they
// execute.
func TestUsedInAnotherWay(t *testing.T) {
	r := newRig(t, true)
	r.first(jobs(0, 1))
	r.m.kind = observe.Executed
	r.run(0, 3)
	if !slices.Equal(r.grown, []string{"common"}) {
		t.Errorf("grown %q", r.grown)
	}
}

// A run that a limit ends while it is observed is not observed again, and does not count. Nor does one that
// always ends otherwise. Both are said, once.
func TestEndsOtherwise(t *testing.T) {
	for _, c := range []struct {
		how  func(r *rig)
		want string
		runs int
	}{
		{func(r *rig) { r.m.limited = true }, "0 reached a limit while it was observed, which takes longer", 1},
		{func(r *rig) { r.m.detour = 100 }, "the tool ends otherwise while it is observed, on 0", 4},
	} {
		r := newRig(t, true)
		c.how(r)
		r.first(jobs(0, 1))
		r.run(0, 1)
		if len(r.m.observed) != c.runs || r.o.Cases() != 0 || !slices.Equal(r.warned, []string{c.want}) {
			t.Errorf("observed %q, %d cases, warned %q", r.m.observed, r.o.Cases(), r.warned)
		}
		r.run(1, 3)
		if len(r.warned) != 1 {
			t.Errorf("warned %q", r.warned)
		}
	}
}

// An observed run that fails, as on a bad disk, is made again too, also a first one.
func TestFailsOnce(t *testing.T) {
	r := newRig(t, true)
	r.m.fails = 2
	if files, blind := r.first(jobs(0, 1)); len(files) != 0 || blind != "" {
		t.Errorf("%q, blind %q", files, blind)
	}
	if got := r.o.Cases(); got != 0 {
		t.Errorf("%d cases", got)
	}
	r.run(0, 1)
	r.wantObserved("0", "0", "0")
	if got := r.o.Cases(); got != 1 || !slices.Equal(r.grown, []string{"common"}) {
		t.Errorf("%d cases, grown %q", got, r.grown)
	}
}

// A limit that ended a case would cut off its observed run too.
func TestCutOff(t *testing.T) {
	r := newRig(t, true)
	r.m.ending = regress.Ending{Kind: regress.TimedOut}
	r.run(0, 3)
	r.wantObserved()
	r.m.ending = regress.Ending{Kind: regress.Signalled, Code: 11}
	r.run(3, 4)
	r.wantObserved("3")
}

// What no closure can hold is said once, and ends the observing.
func TestBlind(t *testing.T) {
	r := newRig(t, true)
	r.m.contact = map[string]string{"1": "port 9"}
	r.run(0, 4)
	r.wantObserved("0", "1")
	if got := strings.Join(r.warned, "; "); got != "the tool connects to a process outside: port 9" {
		t.Errorf("warned %q", got)
	}
	if _, blind := newRig(t, false).first(nil); blind != "" {
		t.Errorf("no case: %q", blind)
	}
	r = newRig(t, false)
	r.m.contact = map[string]string{"0": "port 9"}
	if _, blind := r.first(jobs(0, 3)); blind == "" {
		t.Error("the first case connects outside")
	}
	slices.Sort(r.m.observed)
	r.run(0, 500)
	r.wantObserved("0", "1", "2")
}

// Runs that fail show nothing, and an interrupt ends the first ones.
func TestFailures(t *testing.T) {
	r := newRig(t, true)
	r.m.err = errors.New("no lane")
	if files, blind := r.first(jobs(0, 1)); len(files) != 0 || blind != "" {
		t.Errorf("%q, blind %q", files, blind)
	}
	r.run(0, 3)
	r.wantObserved()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := r.o.First(ctx, r.m, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var none *observation.Observer
	if none.Cases() != 0 || none.Decorate(r.m) != exec.Executor(r.m) {
		t.Error("a nil Observer observes")
	}
}
