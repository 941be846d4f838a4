package check_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
	"muster/regress/lane/observe"
	"muster/regress/record"
)

// A machine runs a modelled tool. What it prints depends on the source, the headers, a variable, a word of
// its command, its own executable, and for each source on other files with their rights, where a link leads,
// places without a file, or what is in a folder. It shows all of these to an observer.
type machine struct {
	t              *testing.T
	dir            string
	variable, word string
	varies         bool            // c5 prints something else, once
	killed         bool            // the system kills c5
	late           [2]int          // the sources from one number to below the other use a further file
	hides          bool            // the next observed run of c99 goes another way, and shows nothing
	reused         map[string]bool // cases of the last check

	mu sync.Mutex // of varies and hides, which a run changes
}

// modelCases is large enough for cases that do not guard others.
const modelCases = 40

func (m *machine) at(name string) string { return filepath.Join(m.dir, name) }

func (m *machine) write(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(m.at(name), []byte(text), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// sees returns what a program sees at a path.
func (m *machine) sees(path string) string {
	text, _ := os.ReadFile(path)
	names, _ := os.ReadDir(path)
	target, _ := os.Readlink(path)
	mode := os.FileMode(0)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode()
	}
	return fmt.Sprintf("%s %v %v %s\n", text, mode, names, target)
}

// uses returns the paths that the tool uses for a source, and how.
func (m *machine) uses(caseName string) []observe.Access {
	var number int
	fmt.Sscanf(caseName, "c%d", &number)
	list := []observe.Access{{Path: m.at("tool"), Kind: observe.Executed}, {Path: m.at(fmt.Sprint("d", number%5)), Kind: observe.Opened}}
	if number%7 == 0 {
		list = append(list, observe.Access{Path: m.at("folder"), Kind: observe.Listed})
	}
	if number%3 == 0 {
		list = append(list, observe.Access{Path: m.at("asked"), Kind: observe.Asked})
	}
	if number%4 == 0 {
		list = append(list, observe.Access{Path: m.at("link"), Kind: observe.Opened})
	}
	if m.late[0] <= number && number < m.late[1] {
		list = append(list, observe.Access{Path: m.at("late"), Kind: observe.Opened})
	}
	return list
}

// Run implements exec.Executor.
func (m *machine) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	var seen strings.Builder
	headers, _ := filepath.Glob(m.at("src/HDR_*"))
	for _, path := range append(headers, m.at("src/"+j.Source.Name)) {
		seen.WriteString(path + m.sees(path))
	}
	uses := m.uses(j.Source.Name)
	for _, a := range uses {
		seen.WriteString(m.sees(a.Path))
	}
	seen.WriteString(m.variable + m.word)
	m.mu.Lock()
	defer m.mu.Unlock()
	is5, isHidden := j.Source.Name == "c5", m.hides && j.Observe && j.Source.Name == "c99"
	if m.varies && is5 || isHidden {
		seen.WriteString("something else")
		m.varies = m.varies && !is5
	}
	text := []byte(outcome.Of([]byte(seen.String())).String())
	key := outcome.Key{Place: outcome.Stdout}
	o := outcome.Outcome{Parts: []outcome.Part{
		{Key: key, Size: int64(len(text)), Digest: outcome.Of(text)}, {Key: outcome.Key{Place: outcome.Stderr}, Digest: outcome.Of(nil)},
	}}
	if m.killed && is5 {
		o.Ending = regress.Ending{Kind: regress.Signalled, Code: int(syscall.SIGKILL)}
	}
	r := exec.NewResult(o, outcome.Cost{CPU: 1e6, Wall: 1e6, PeakRSS: 4096}, 0, []exec.Content{{Key: key, Bytes: text}, {Key: outcome.Key{Place: outcome.Stderr}}}, nil)
	if j.Observe {
		r.Observed = &observe.Observation{Accesses: uses}
		if r.Cost.Wall = 0; isHidden { // else observed runs would take too much of the time to be many
			r.Observed.Accesses, m.hides = nil, false
		}
	}
	return r, nil
}

// RunAll implements exec.Executor.
func (m *machine) RunAll(ctx context.Context, b exec.Batch) int { return runInTurn(ctx, m.Run, b) }

// runInTurn runs the jobs of a batch one after another.
func runInTurn(ctx context.Context, run func(context.Context, exec.Job) (*exec.Result, error), b exec.Batch) int {
	for i, j := range b.Jobs {
		b.Started(i)
		r, err := run(ctx, j)
		b.Ended(i, r, err)
	}
	return len(b.Jobs)
}

func (*machine) Floor() int64          { return 0 }
func (*machine) OwnCPU() time.Duration { return 0 }
func (*machine) Close() error          { return nil }

func (m *machine) options() regress.Options {
	return regress.Options{
		Corpus: regress.Corpus{Path: m.at("src")},
		Command: regress.Command{
			Words: []string{m.at("tool"), "{in}", m.word}, NoNetwork: true, Observe: regress.ObserveAll, Env: []string{"A=" + m.variable},
		},
		Limits: regress.Limits{Jobs: 2},
		Judge:  regress.CompareOptions{Repeat: 1, Retries: 1},
		Store:  regress.Store{Golden: m.at("golden"), State: m.at("state")},
		Report: regress.Report{Format: regress.JSON, Verbose: true, Colour: regress.ColourNever},
	}
}

// verdicts makes a check and returns the verdict of each case.
func (m *machine) verdicts(o regress.Options) (map[string]string, regress.Summary) {
	m.t.Helper()
	var out bytes.Buffer
	sum, err := check.Run(m.t.Context(), o, host.Host{Stdout: &out, Stderr: m.t.Output(), Executor: func(int) (exec.Executor, error) { return m, nil }})
	if err != nil {
		m.t.Fatal(err)
	}
	list := map[string]string{}
	m.reused = map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var c struct {
			Type, Name, Verdict string
			Reused              any // a number in the summary
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			m.t.Fatal(err)
		}
		if c.Type == "case" {
			list[c.Name], m.reused[c.Name] = c.Verdict, c.Reused == true
		}
	}
	return list, sum
}

func (m *machine) record() {
	m.t.Helper()
	_, err := record.Run(m.t.Context(), m.options(), host.Host{Stdout: io.Discard, Stderr: io.Discard, Executor: func(int) (exec.Executor, error) { return m, nil }})
	if err != nil {
		m.t.Fatal(err)
	}
}

// change changes something that some cases depend on, or nothing, and says what.
func (m *machine) change(r *rand.Rand) string {
	text := fmt.Sprint("text ", r.IntN(3))
	source := func() string { return fmt.Sprint("src/c", r.IntN(modelCases)) }
	switch r.IntN(17) {
	case 0:
		return "nothing"
	case 1:
		name := source()
		m.write(name, text)
		return name
	case 2:
		m.write("src/HDR_g", text)
		return "a header"
	case 3:
		m.write("tool", "#!/bin/sh\n"+text)
		return "the tool"
	case 4:
		name := fmt.Sprint("d", r.IntN(5))
		m.write(name, text)
		return name
	case 5:
		m.appear("asked", text)
		return "a file that is asked for"
	case 6:
		m.appear("folder/new", "")
		return "names in a folder"
	case 7:
		m.variable = text
		return "a variable"
	case 8:
		m.word = text
		return "a word of the command"
	case 9:
		name := source()
		m.chmod(name)
		return "the rights of " + name
	case 10:
		m.appear("src/HDR_x", text)
		return "a header"
	case 11:
		a, b := source(), source()
		m.move(a, "kept")
		m.move(b, a)
		m.move("kept", b)
		return a + " and " + b
	case 12:
		m.appear("src/c90", text)
		return "a source"
	case 13:
		name := fmt.Sprint("d", r.IntN(3))
		m.chmod(name)
		return "the rights of " + name
	case 14:
		m.link(fmt.Sprint("same", r.IntN(2)))
		return "where a link leads"
	case 15:
		m.move("src/HDR_h", "src/HDR_g")
		m.move("src/HDR_g", map[bool]string{true: "src/HDR_h", false: "src/HDR_i"}[r.IntN(2) == 0])
		return "the name of a header"
	default:
		m.record()
		return "the golden"
	}
}

func (m *machine) move(from, to string) {
	m.t.Helper()
	if err := os.Rename(m.at(from), m.at(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Fatal(err)
	}
}

// appear makes a file, or removes it.
func (m *machine) appear(name, text string) {
	m.t.Helper()
	if os.Remove(m.at(name)) != nil {
		m.write(name, text)
	}
}

func (m *machine) chmod(name string) {
	m.t.Helper()
	info, err := os.Stat(m.at(name))
	if err == nil {
		err = os.Chmod(m.at(name), info.Mode()^0o111)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) link(to string) {
	m.t.Helper()
	_ = os.Remove(m.at("link")) // it may not be there yet
	if err := os.Symlink(to, m.at("link")); err != nil {
		m.t.Fatal(err)
	}
}

// newMachine returns a machine with a number of sources and a golden.
func newMachine(t *testing.T, cases int) *machine {
	m := &machine{t: t, dir: t.TempDir(), word: "x"}
	for _, folder := range []string{"src", "folder"} {
		if err := os.Mkdir(m.at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range cases {
		m.write(fmt.Sprint("src/c", i), fmt.Sprint("source ", i))
	}
	for _, name := range []string{"src/HDR_h", "same0", "same1", "late", "d0", "d1", "d2"} {
		m.write(name, "")
	}
	m.link("same0")
	m.write("tool", "#!/bin/sh\n")
	m.record()
	return m
}

// reusing returns options for a check with --reuse.
func (m *machine) reusing() regress.Options {
	o := m.options()
	o.Store.Reuse = true
	return o
}

// seeds returns the number of a test's rounds: with -short, a half.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 2
	}
	return n
}

// Whatever changes between checks, a check with --reuse gives the verdicts of a full check, if all
// that the tool depends on can be observed.
func TestReuseGivesTheVerdictsOfAFullCheck(t *testing.T) {
	reused, differ := 0, 0
	for seed := range seeds(4) {
		m := newMachine(t, modelCases)
		r := rand.New(rand.NewPCG(seed, 7))
		var changes []string
		for range 10 {
			changes = append(changes, m.change(r))
			full := m.options()
			full.Store.State = m.at("full")
			want, sum := m.verdicts(full)
			differ += sum.Verdicts.NotIdentical()
			if r.IntN(4) == 0 {
				part := m.reusing()
				part.Select.Globs = []string{"c1*"}
				m.verdicts(part)
			}
			got, sum := m.verdicts(m.reusing())
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d, after changes of %q: with --reuse %v, without %v", seed, changes, got, want)
			}
			if sum.NotReused != "" {
				t.Errorf("seed %d, after changes of %q: %s ended reuse", seed, changes, sum.NotReused)
			}
			reused += sum.Reused
		}
	}
	if reused == 0 || differ == 0 {
		t.Errorf("%d cases were reused, and %d differed: the test proves nothing", reused, differ)
	}
	t.Logf("%d cases were reused, %d differed in full checks", reused, differ)
}

// A kill by the system, as when the memory is full, is no outcome that stays.
func TestKilledCaseIsNotReused(t *testing.T) {
	m := newMachine(t, 200) // so that chance seldom chooses c5 as a guard
	m.killed = true
	for range 3 {
		if list, _ := m.verdicts(m.reusing()); list["c5"] != "crashed" || m.reused["c5"] {
			t.Fatalf("c5 is %s, reused %v", list["c5"], m.reused["c5"])
		}
	}
}

// Without --observe all, a check may find that the tool uses more than the earlier checks knew. Outcomes
// of these say nothing then: if the cases that guard the others show it, nothing is reused, and else nothing
// in the next check.
func TestToolUsesMore(t *testing.T) {
	for what, c := range map[string]struct {
		late   [2]int
		hides  bool
		reused []bool // most of the first cases, in three checks
	}{
		"the last case, which is observed first": {late: [2]int{99, 100}, hides: true, reused: []bool{false, true, true}},
		"others":                                 {late: [2]int{100, 250}, reused: []bool{true, false, true}},
	} {
		m := newMachine(t, 400)
		check := func(want bool) {
			t.Helper()
			o := m.reusing()
			o.Command.Observe = ""
			m.verdicts(o)
			n := 0
			for i := range 100 {
				if m.reused[fmt.Sprint("c", i)] {
					n++
				}
			}
			if n > 50 != want { // cases that guarded others in the check before may be reused in any case
				t.Errorf("%s: %d of the first cases are reused", what, n)
			}
		}
		check(false)
		check(true)
		m.late, m.hides = c.late, c.hides
		for i := c.late[0]; i < c.late[1] && !c.hides; i++ {
			m.write(fmt.Sprint("src/c", i), "new")
		}
		for _, want := range c.reused {
			check(want)
		}
	}
}
