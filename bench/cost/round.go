package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed burn/burn.c
var source []byte

// bench is a measurement in progress.
type bench struct {
	options
	dir string
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// prepare builds the programs and the corpus, and records the golden.
func (b *bench) prepare(ctx context.Context) error {
	if err := os.WriteFile(b.path("burn.c"), source, 0o644); err != nil {
		return err
	}
	for name, permille := range map[string]int{"old.built": 0, "same.built": 0, "more.built": b.plus} {
		if err := b.run(ctx, "cc", "-O1", fmt.Sprintf("-DPERMILLE=%d", permille), "-o", b.path(name), b.path("burn.c")); err != nil {
			return err
		}
	}
	if err := os.Mkdir(b.path("src"), 0o755); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range b.cases {
		thousands := 4000 * math.Exp(0.7*r.NormFloat64()) // some 3 ms
		if err := os.WriteFile(b.path(fmt.Sprintf("src/%04d.n", i)), fmt.Appendln(nil, int(thousands)), 0o644); err != nil {
			return err
		}
	}
	if err := b.fresh("old"); err != nil {
		return err
	}
	return b.run(ctx, b.muster, "record", "-q", b.path("src"), "--golden", b.path("golden"), "--state", b.path("state"), "--", b.path("old"), "{in}")
}

func (b *bench) run(ctx context.Context, words ...string) error {
	if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w\n%s", words, err, out)
	}
	return nil
}

// fresh replaces a program by a new copy.
func (b *bench) fresh(name string) error {
	text, err := os.ReadFile(b.path(name + ".built"))
	if err != nil {
		return err
	}
	if err := os.Remove(b.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(b.path(name), text, 0o755)
}

// result is the result of a check.
type result struct {
	Ratio float64 `json:"cpu"`
	Low   float64 `json:"cpu_low"`
	High  float64 `json:"cpu_high"`
	Pairs int     `json:"pairs"`
	fired bool    // by its exit status
	took  time.Duration
	pairs []pair
}

// round checks one program against the golden of the old one.
func (b *bench) round(ctx context.Context, name string) (result, error) {
	if err := errors.Join(b.fresh("old"), b.fresh(name)); err != nil {
		return result{}, err
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, b.muster, "check", "-q", "--format", "json", "--fail-on", "cpu>0%",
		"--golden", b.path("golden"), "--state", b.path("state"), "--events", b.path("events"), "--", b.path(name), "{in}")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return result{}, fmt.Errorf("%v: %w\n%s", cmd, err, errs.Bytes())
	}
	var sum struct {
		Cost *result `json:"cost"`
	}
	if err := json.Unmarshal(out, &sum); err != nil || sum.Cost == nil {
		return result{}, fmt.Errorf("%v told no cost: %s, %v", cmd, out, err)
	}
	sum.Cost.fired, sum.Cost.took = err != nil, time.Since(began)
	sum.Cost.pairs, err = readPairs(b.path("events"))
	return *sum.Cost, err
}

// pair is two runs of a case, in microseconds of CPU.
type pair struct {
	name     string
	old, now int64
}

// lineMax is the longest line of events: that of the cost has thousands of cases.
const lineMax = 16 << 20

// readPairs reads the runs that determine the cost from an events file.
func readPairs(path string) ([]pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return pairsIn(f)
}

// caseRun is one run of a case in the events.
type caseRun struct {
	Type, Name string
	Costs, Old bool
	CPU        float64 `json:"cpu_ms"`
}

// pairsIn reads events. In the first pass the old command runs beside the new one on some cases,
// and its event comes first. In the passes for the cost it runs on all cases, before or after the
// new one.
func pairsIn(events io.Reader) (pairs []pair, err error) {
	half := map[string]caseRun{} // unpaired runs, by case
	costs := false
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		var now caseRun
		if len(lines.Bytes()) > 2000 || json.Unmarshal(lines.Bytes(), &now) != nil {
			continue // the cost itself is long, and has no such fields
		}
		if now.Type == "pass_started" {
			costs = now.Costs
		}
		if now.Type != "case_ran" {
			continue
		}
		before, second := half[now.Name]
		switch {
		case second && before.Old != now.Old:
			pairs = append(pairs, together(before, now))
			delete(half, now.Name)
		case costs || now.Old:
			half[now.Name] = now
		}
	}
	return pairs, lines.Err()
}

func together(a, b caseRun) pair {
	if b.Old {
		a, b = b, a
	}
	us := func(r caseRun) int64 { return int64(math.Round(r.CPU * 1000)) }
	return pair{a.Name, us(a), us(b)}
}

func writePairs(w io.Writer, round int, pairs []pair) error {
	var b bytes.Buffer
	for _, p := range pairs {
		fmt.Fprintf(&b, "%d,%s,%d,%d\n", round, p.name, p.old, p.now)
	}
	_, err := w.Write(b.Bytes())
	return err
}
