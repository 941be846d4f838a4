package check_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
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

// A machine runs a modelled tool. What it prints depends on the source, a header, a variable, its own
// executable, and for each source on other files, places without a file, or the names in a folder. It
// shows all of these to an observer.
type machine struct {
	t        *testing.T
	dir      string
	variable string
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
	return list
}

// Run implements exec.Executor.
func (m *machine) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	var seen strings.Builder
	for _, path := range []string{"src/" + j.Source.Name, "src/HDR_h"} {
		text, _ := os.ReadFile(m.at(path))
		fmt.Fprintf(&seen, "%s\n", text)
	}
	uses := m.uses(j.Source.Name)
	for _, a := range uses {
		text, _ := os.ReadFile(a.Path)
		names, _ := os.ReadDir(a.Path)
		fmt.Fprintf(&seen, "%s %v\n", text, names)
	}
	text := []byte(outcome.Of([]byte(seen.String() + m.variable)).String())
	key := outcome.Key{Place: outcome.Stdout}
	o := outcome.Outcome{Parts: []outcome.Part{
		{Key: key, Size: int64(len(text)), Digest: outcome.Of(text)}, {Key: outcome.Key{Place: outcome.Stderr}, Digest: outcome.Of(nil)},
	}}
	r := exec.NewResult(o, outcome.Cost{CPU: 1e6, Wall: 1e6, PeakRSS: 4096}, 0, []exec.Content{{Key: key, Bytes: text}, {Key: outcome.Key{Place: outcome.Stderr}}}, nil)
	if j.Observe {
		r.Observed = &observe.Observation{Accesses: uses}
	}
	return r, nil
}

// RunAll implements exec.Executor.
func (m *machine) RunAll(ctx context.Context, b exec.Batch) int {
	for i, j := range b.Jobs {
		b.Started(i)
		r, err := m.Run(ctx, j)
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
			Words: []string{m.at("tool"), "{in}"}, NoNetwork: true, Observe: regress.ObserveAll, Env: []string{"A=" + m.variable},
		},
		Limits: regress.Limits{Jobs: 2, Grace: regress.GraceDefault},
		Judge:  regress.CompareOptions{Repeat: 1, Retries: 1},
		Store:  regress.Store{Golden: m.at("golden"), State: m.at("state")},
		Report: regress.Report{Format: regress.JSON, Verbose: true, Colour: regress.ColourNever},
	}
}

// verdicts makes a check and returns the verdict of each case.
func (m *machine) verdicts(o regress.Options) (map[string]string, regress.Summary) {
	m.t.Helper()
	var out bytes.Buffer
	sum, err := check.Run(m.t.Context(), o, host.Host{Stdout: &out, Stderr: io.Discard, Executor: func(int) (exec.Executor, error) { return m, nil }})
	if err != nil {
		m.t.Fatal(err)
	}
	list := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var c struct{ Type, Name, Verdict string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			m.t.Fatal(err)
		}
		if c.Type == "case" {
			list[c.Name] = c.Verdict
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
	switch r.IntN(9) {
	case 0:
		return "nothing"
	case 1:
		name := fmt.Sprint("src/c", r.IntN(modelCases))
		m.write(name, text)
		return name
	case 2:
		m.write("src/HDR_h", text)
		return "the header"
	case 3:
		m.write("tool", "#!/bin/sh\n"+text)
		return "the tool"
	case 4:
		name := fmt.Sprint("d", r.IntN(5))
		m.write(name, text)
		return name
	case 5:
		if os.Remove(m.at("asked")) != nil {
			m.write("asked", text)
		}
		return "a file that is asked for"
	case 6:
		if os.Remove(m.at("folder/new")) != nil {
			m.write("folder/new", "")
		}
		return "names in a folder"
	case 7:
		m.variable = text
		return "a variable"
	default:
		m.record()
		return "the golden"
	}
}

// Whatever changes between checks, a check with --reuse gives the verdicts of a full check, if all
// that the tool depends on can be observed.
func TestReuseGivesTheVerdictsOfAFullCheck(t *testing.T) {
	reused, differ := 0, 0
	for seed := range uint64(6) {
		m := &machine{t: t, dir: t.TempDir()}
		r := rand.New(rand.NewPCG(seed, 7))
		for _, folder := range []string{"src", "folder"} {
			if err := os.Mkdir(m.at(folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for i := range modelCases {
			m.write(fmt.Sprint("src/c", i), fmt.Sprint("source ", i))
		}
		m.write("src/HDR_h", "")
		m.write("tool", "#!/bin/sh\n")
		m.record()
		var changes []string
		for range 8 {
			changes = append(changes, m.change(r))
			full := m.options()
			full.Store.State = m.at("full")
			want, sum := m.verdicts(full)
			differ += sum.Verdicts.NotIdentical()
			again := m.options()
			again.Store.Reuse = true
			got, sum := m.verdicts(again)
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
