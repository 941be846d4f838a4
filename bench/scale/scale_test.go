package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// TestSmall measures everything over a fiftieth of the cases, with two runs of each in the large runs. Times
// do not matter here. The bounds do: memory, what is asked of the engine at once, and that every figure
// exists. With buffers of a fixed size for each case that ends, 2,000 cases at once took 935 MB.
func TestSmall(t *testing.T) {
	dir := t.TempDir()
	muster, self := filepath.Join(dir, "muster"), filepath.Join(dir, "scale")
	for path, of := range map[string]string{muster: "muster/cmd/muster", self: "."} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, of).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	runs := filepath.Join(dir, "runs")
	c := exec.CommandContext(t.Context(), self, "-muster", muster, "-work", dir, "-cases", "20000", "-part", "2000", "-rounds", "1", "-repeat", "2", "-takes", "20ms", "-runs", runs)
	var progress bytes.Buffer
	c.Stderr = &progress
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.Bytes())
	}
	for _, want := range []string{
		`Each case runs 2 times`,
		`\| record \| 1 \| \d+ \| \d+–\d+ \| \d+\.\d \| \d+\.\d \| \d+ % \|`,
		`\| executions at once \| \d+ \| at most 2000, jobs of \[engine\] \| met \|`,
		`\| requests of a kind at once \| [1-4] \| at most 4 \| met \|`,
		`\| contents in a request \| \d\.\d MB \| at most 4\.2 MB \| met \|`,
		`\| the golden's writer \| \d+\.\d \| \d+\.\d \|`,
		`\| check, lanes \| 2 \| \d+ \| \d+ \|`,
		`\| 256 \| \d+, `,
		`\| the most \| (\d+, from \d+ cores: \w|no part limits it)`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	checkFrames(t, muster)
	m, err := readRuns(runs)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		for _, r := range m.of(kind{command, false, 2, 2}) {
			if r.Saw.Executed < 40_000 {
				t.Errorf("%s: the engine executed %d actions", command, r.Saw.Executed)
			}
			if r.Peak < 10<<20 || r.Peak > 450<<20 {
				t.Errorf("%s: muster had %d MB at most", command, r.Peak>>20)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "muster-scale-*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}

// checkFrames finds the functions of all parts in muster. Whether a profile of so few cases has a
// sample of each of them is chance.
func checkFrames(t *testing.T, muster string) {
	t.Helper()
	program, err := os.ReadFile(muster)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range limitedParts {
		for _, f := range p.frames {
			if f != "main.profiled" && !bytes.Contains(program, []byte(f)) {
				t.Errorf("muster has no function %s, of %q", f, p.name)
			}
		}
	}
}

// A sample counts for the first part that has one of its functions.
func TestReadParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profile")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}
	for i, name := range []string{limitedParts[1].frames[0], limitedParts[4].frames[0] + "[go.shape.int]).ask", "runtime.mallocgc"} {
		function := &profile.Function{ID: uint64(i + 1), Name: name}
		location := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: function}}}
		p.Function, p.Location = append(p.Function, function), append(p.Location, location)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{location}, Value: []int64{1, int64(i+1) * 1000}})
	}
	if err := errors.Join(p.Write(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	parts, err := readParts(path)
	if want := []time.Duration{0, 1000, 0, 0, 2000, 0, 0}; err != nil || !slices.Equal(parts, want) {
		t.Errorf("%v, %v, want %v", parts, err, want)
	}
}

// The model: cores limit until a part that few goroutines do is slower.
func TestModel(t *testing.T) {
	c := costs{cpu: 200 * time.Microsecond, parts: make([]time.Duration, len(limitedParts))}
	c.parts[0], c.parts[1] = 10*time.Microsecond, 20*time.Microsecond // alone; the golden's writer
	for _, want := range []struct {
		cores   int
		perCase time.Duration
		limit   string
	}{{1, 200 * time.Microsecond, ""}, {2, 105 * time.Microsecond, ""}, {64, 30 * time.Microsecond, limitedParts[1].name}} {
		if d, limit := c.perCase(want.cores); d != want.perCase || limit != want.limit {
			t.Errorf("%d cores: %v, limited by %q", want.cores, d, limit)
		}
	}
	if rate, limit, cores := c.highest(); int(rate) != 33333 || limit != limitedParts[1].name || cores != 10 {
		t.Errorf("at most %v from %d cores, by %q", rate, cores, limit)
	}
	if _, limit, _ := (costs{cpu: time.Millisecond, parts: make([]time.Duration, len(limitedParts))}).highest(); limit != "" {
		t.Errorf("parts that cost nothing limit: %q", limit)
	}
	c.engine = 40 * time.Microsecond
	if d, _ := c.perCase(2); d != 125*time.Microsecond {
		t.Errorf("with the engine on the same two cores: %v", d)
	}
}

// What the tool makes follows from the source alone, and has a size of its own.
func TestOutputs(t *testing.T) {
	a, b := outputOf(key{1}), outputOf(key{2})
	if len(a) != caseSize || bytes.Equal(a, b) || !bytes.Equal(a, outputOf(key{1})) || !strings.HasPrefix(string(a), "\tmovl\t$0x") {
		t.Errorf("%q\n%q", a, b)
	}
	if isSource(a) || !isSource(append(bytes.Clone(sourceMark), "7\n"...)) {
		t.Error("an output is no source")
	}
}
