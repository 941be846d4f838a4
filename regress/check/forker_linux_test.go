package check_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
	"muster/regress/record"
)

// forking is a machine whose forks are wrong once enough of them ran. They print what the golden has.
// Plain runs then print something else.
type forking struct {
	mu       sync.Mutex
	forks    int
	rightMax int // forks
	changed  bool
}

func (f *forking) Run(_ context.Context, j exec.Job) (*exec.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := j.Source.Name
	if j.Fork {
		f.forks++
	} else if f.changed && f.forks > f.rightMax {
		text = "changed"
	}
	key := outcome.Key{Place: outcome.Stdout}
	o := outcome.Outcome{Parts: []outcome.Part{
		{Key: key, Size: int64(len(text)), Digest: outcome.Of([]byte(text))}, {Key: outcome.Key{Place: outcome.Stderr}, Digest: outcome.Of(nil)},
	}}
	return exec.NewResult(o, outcome.Cost{}, 0, []exec.Content{{Key: key, Bytes: []byte(text)}, {Key: outcome.Key{Place: outcome.Stderr}}}, nil), nil
}

func (f *forking) RunAll(ctx context.Context, b exec.Batch) int { return runInTurn(ctx, f.Run, b) }

func (*forking) Floor() int64          { return 0 }
func (*forking) OwnCPU() time.Duration { return 0 }
func (*forking) Close() error          { return nil }

// If a fork turns out to be wrong, no fork counts: the cases run again, and the reports have the
// results of plain runs.
func TestRetraction(t *testing.T) {
	const guards, sampled = 2 * 32, 10 // of 100 forks, at most 10 are of cases whose plain run counts: one in 50 by chance
	sum, stderr := retract(t, &forking{rightMax: guards + 100}, 0)
	if sum.Retracted < 100-sampled || sum.Forked != 0 || sum.Verdicts[regress.Changed]+sum.Verdicts[regress.Identical] != cases {
		t.Errorf("%d retracted, %d forked, verdicts %v", sum.Retracted, sum.Forked, sum.Verdicts)
	}
	if sum.Verdicts[regress.Changed] < cases-guards-10 {
		t.Errorf("only %d changed", sum.Verdicts[regress.Changed])
	}
	if !strings.Contains(stderr, " cases run again\n") {
		t.Errorf("it warns: %s", stderr)
	}
}

// Once --fail-fast has ended the check, nothing runs again.
func TestRetractionAfterFailFast(t *testing.T) {
	const guards, sampled = 2 * 32, 10
	sum, stderr := retract(t, &forking{rightMax: guards + 100}, 1)
	if sum.Retracted < 100-sampled || sum.Forked != 0 || sum.NotRun < sum.Retracted || sum.Verdicts[regress.Identical] > guards+10 {
		t.Errorf("%d retracted, %d forked, %d not run, verdicts %v", sum.Retracted, sum.Forked, sum.NotRun, sum.Verdicts)
	}
	if !strings.Contains(stderr, " cases have no verdict, as --fail-fast ended the check\n") {
		t.Errorf("it warns: %s", stderr)
	}
}

// cases is the number of cases. With 600, eleven run both ways. All of these come among the first 100 forks once in 10⁸
// runs.
const cases = 600

// retract records cases, and then checks them with forks that go wrong.
func retract(t *testing.T, f *forking, failFast int) (sum regress.Summary, warnings string) {
	t.Helper()
	if _, err := osexec.LookPath("cc"); err != nil && os.Getenv("MUSTER_REQUIRE") != "all" || runtime.GOOS+runtime.GOARCH != "linuxamd64" {
		t.Skip("there are no fork servers here")
	}
	m := &machine{t: t, dir: t.TempDir()}
	o := m.options()
	o.Command.As, o.Command.Observe, o.Judge.CostCases = "in", regress.ObserveNone, 0
	if err := os.Mkdir(m.at("src"), 0o755); err != nil {
		t.Fatal(err)
	}
	m.write("tool", "")
	for i := range cases {
		m.write(fmt.Sprint("src/c", i), "x")
	}
	var stdout, stderr bytes.Buffer
	h := host.Host{Stdout: &stdout, Stderr: &stderr, Executor: func(int) (exec.Executor, error) { return f, nil }}
	if _, err := record.Run(t.Context(), o, h); err != nil {
		t.Fatal(err)
	}
	f.changed, o.Store.ForkServer, o.Select.FailFast = true, true, failFast
	o.Report.Events = m.at("events")
	sum, err := check.Run(t.Context(), o, h)
	if err != nil {
		t.Fatal(err)
	}
	return sum, stderr.String()
}
