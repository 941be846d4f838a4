package lab_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/lab"
	"muster/lab/results"
)

// Every round measures everything once and starts with another trial. The journal has all
// results.
func TestRounds(t *testing.T) {
	var journal bytes.Buffer
	o := tinyDispatch(scriptedOptions(t, 3))
	o.Journal = &journal
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	names, all := measuredNames(t, journal.String()), len(countSamples(r))
	if all != 6 || len(names) != 3*all {
		t.Fatalf("%d figures and %d measurements", all, len(names))
	}
	first := map[string]bool{}
	for round := range slices.Chunk(names, all) {
		first[round[0]] = true
		if whole := slices.Compact(slices.Sorted(slices.Values(round))); len(whole) != all {
			t.Errorf("a round measured %q", round)
		}
	}
	if len(first) != 3 {
		t.Errorf("three rounds begin with %v", first)
	}
	again, err := results.Read(&journal)
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("the journal has, %v\n%+v\nnot\n%+v", err, again, r)
	}
}

// The journal keeps absent figures, and they are not measured again.
func TestAbsentIsKept(t *testing.T) {
	var journal bytes.Buffer
	o := tinyDispatch(fakeOptions(t, "deadlock", 2))
	o.Journal = &journal
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil || len(r.Absent) != 6 || len(r.Samples) > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	expectRoundTrip(t, r)
	o = tinyDispatch(fakeOptions(t, "usage", 2)) // starting it would be an error
	o.Earlier = &journal
	again, err := lab.Dispatch(t.Context(), o)
	if err != nil || !reflect.DeepEqual(again.Absent, r.Absent) {
		t.Errorf("%v, %+v", err, again)
	}
}

// A figure that was left out for its duration is measured under a longer limit.
func TestLeftOutIsMeasuredLater(t *testing.T) {
	var journal bytes.Buffer
	o := tinySpawn(scriptedOptions(t, 1))
	o.Journal, o.EachMax = &journal, time.Nanosecond
	r, err := lab.Spawn(t.Context(), o)
	if err != nil || len(r.Absent) == 0 || len(r.Samples) > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	n := len(r.Absent)
	text, _, _ := render(t, r, lab.SpawnReport(r, o))
	expectText(t, text, "left out")
	o.Earlier, o.Journal, o.EachMax = &journal, nil, 0
	if r, err = lab.Spawn(t.Context(), o); err != nil || len(r.Absent) > 0 || len(r.Samples) != n {
		t.Errorf("%v, %+v", err, r)
	}
}

// cutAt returns a journal cut at an offset, without an incomplete last line.
func cutAt(journal []byte, at int) []byte {
	return slices.Clone(journal[:bytes.LastIndexByte(journal[:at], '\n')+1])
}

// A journal that was cut anywhere can be resumed, without duplicate figures.
func TestResumeAfterAnyCut(t *testing.T) {
	step := 29
	if os.Getenv("MUSTER_LONG") != "" {
		step = 1
	}
	var journal bytes.Buffer
	o := tinyDispatch(scriptedOptions(t, 2))
	o.Journal = &journal
	whole, err := lab.Dispatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at <= journal.Len(); at += step {
		rest := bytes.NewBuffer(cutAt(journal.Bytes(), at))
		o.Earlier, o.Journal = bytes.NewReader(journal.Bytes()[:at]), rest
		had := strings.Count(rest.String(), "\nBenchmark")
		var last lab.Progress
		o.Progress = func(p lab.Progress) {
			if last.Total == 0 && p.Done != had {
				t.Errorf("cut at byte %d it begins with %d done, not %d", at, p.Done, had)
			}
			last = p
		}
		r, err := lab.Dispatch(t.Context(), o)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", at, err)
		}
		if last.Done != 12 || last.Total != 12 || last.Next != "" {
			t.Errorf("cut at byte %d: the last progress is %+v", at, last)
		}
		if got, want := countSamples(r), countSamples(whole); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at byte %d: %v, not %v", at, got, want)
		}
		again, err := results.Read(bytes.NewReader(rest.Bytes()))
		if err != nil || !reflect.DeepEqual(again.Samples, r.Samples) {
			t.Fatalf("cut at byte %d, the journal has, %v:\n%s", at, err, rest)
		}
	}
}

// A resumed run adopts only the figures that it needs, as often as it needs them.
func TestResumeWithLess(t *testing.T) {
	var journal bytes.Buffer
	o := tinyDispatch(scriptedOptions(t, 3))
	o.Tasks, o.Journal = []int{10, 100}, &journal
	if _, err := lab.Dispatch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o = tinyDispatch(fakeOptions(t, "usage", 2)) // starting it would be an error
	o.Tasks, o.Earlier = []int{100}, &journal
	r, err := lab.Dispatch(t.Context(), o)
	if err != nil || len(r.Samples) != 12 || len(countSamples(r)) != 6 {
		t.Errorf("%v, %v", err, countSamples(r))
	}
}

// Figures under different conditions are not mixed.
func TestResumeUnderOtherConditions(t *testing.T) {
	var journal bytes.Buffer
	o := tinyChannel(fakeOptions(t, "whole", 1))
	o.Journal = &journal
	if _, err := lab.Channel(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Journal = nil
	resume := func(text string) (*lab.Results, error) {
		o := o
		o.Earlier = strings.NewReader(text)
		return lab.Channel(t.Context(), o)
	}
	was := journal.String()
	// The load is that of the figures, not that of the moment.
	if r, err := resume(strings.Replace(was, "load: ", "load: 777", 1)); err != nil || !strings.HasPrefix(r.Condition("load"), "777") {
		t.Errorf("another load: %v, %v", err, r)
	}
	for key, text := range map[string]string{
		"go ":                strings.Replace(was, "\ngo: ", "\ngo: go0.", 1),
		"items ":             strings.Replace(was, "\nitems: ", "\nitems: 1", 1),
		"cpus ":              strings.Replace(was, "\ncpus: ", "\ncpus: 1", 1),
		"muster ":            strings.Replace(was, "\nmuster: test", "\nmuster: other", 1),
		"did not record go,": strings.Replace(was, "\ngo: ", "\nno: ", 1),
		"line 3":             strings.Replace(was, "\n", "\n\nnonsense\n", 1),
		"two runs":           was + "cpus: 1000\n",
	} {
		_, err := resume(text)
		if expectInputError(t, err); err != nil {
			expectText(t, err.Error(), key, ": measure again without")
		}
	}
	d := tinyDispatch(fakeOptions(t, "whole", 1))
	d.Earlier = strings.NewReader(was)
	_, err := lab.Dispatch(t.Context(), d)
	if expectInputError(t, err); err != nil {
		expectText(t, err.Error(), "question channel, this one has dispatch")
	}
}

// An interrupted run ends at once with all its processes. It returns its results, and can be
// resumed.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(hangs, pipe)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var journal bytes.Buffer
	o := tinyIO(t, options(t, 2))
	self := o.Probe[0]
	// The third measurement hangs, with a child that would outlive it.
	o.Probe = []string{"sh", "-c", `n=$(($(cat ` + dir + `/n) + 1)); echo $n >` + dir + `/n
		if test $n = 3; then exec "$0" ` + fakeWord + ` hang; fi; echo BenchmarkX 1 5 ns/op`, self}
	if err := os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Journal = &journal
	gone := make(chan string)
	go func() {
		text := make([]byte, 6)
		f, err := os.Open(pipe)
		if err == nil {
			_, err = io.ReadFull(f, text)
		}
		interrupt()
		if err == nil {
			_, err = io.Copy(io.Discard, f) // until no process has it open
		}
		gone <- string(text)
		if err != nil {
			t.Error(err)
		}
	}()
	r, err := lab.IO(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if text := <-gone; text != "begun\n" {
		t.Errorf("the process printed %q", text)
	}
	if len(r.Samples) != 2 || r.NotRun == 0 || len(r.Absent) > 0 {
		t.Fatalf("%d samples, %d not run, absent %v", len(r.Samples), r.NotRun, r.Absent)
	}
	text, page, lines := render(t, r, lab.IOReport(r, o))
	expectText(t, text, "ended early", "measurements are missing")
	expectText(t, page, "ended early")
	if last := lines[len(lines)-1]; last["interrupted"] != true || int(last["not_run"].(float64)) != r.NotRun {
		t.Errorf("the last line is %v", last)
	}
	again, err := results.Read(&journal)
	if err != nil || !reflect.DeepEqual(again.Samples, r.Samples) {
		t.Errorf("the journal has %v, %+v", err, again)
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// A caller's deadline is an interruption, and does not make a figure absent.
func TestDeadlineOfTheCaller(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(100*time.Millisecond))
	defer cancel()
	for _, processes := range []int{0, 2} {
		o := tinyChannel(scriptedOptions(t, 1))
		o.Probe, o.Processes = []string{"sh", "-c", "exec sleep 3600"}, processes
		r, err := lab.Channel(ctx, o)
		if !errors.Is(err, context.DeadlineExceeded) || len(r.Absent) > 0 {
			t.Errorf("%v, %+v", err, r)
		}
	}
}

// fullAfter is a disk that is full after a number of writes.
type fullAfter struct{ writes int }

func (f *fullAfter) Write(text []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, syscall.ENOSPC
	}
	return len(text), nil
}

// A journal that cannot be written ends the run, because its owner relies on it.
func TestJournalThatFails(t *testing.T) {
	for writes := range 4 {
		o := tinyDispatch(scriptedOptions(t, 1))
		o.Journal = &fullAfter{writes}
		r, err := lab.Dispatch(t.Context(), o)
		if !errors.Is(err, syscall.ENOSPC) || len(r.Samples) != writes+1 {
			t.Errorf("full after %d writes: %v, %d samples", writes, err, len(r.Samples))
		}
	}
}

// The file keeps its old content until the first result.
func TestJournalBeginsWithTheFirstResult(t *testing.T) {
	var journal bytes.Buffer
	o := tinyDispatch(fakeOptions(t, "usage", 1))
	o.Journal = &journal
	if _, err := lab.Dispatch(t.Context(), o); err == nil || journal.Len() > 0 {
		t.Errorf("%v, and the journal has %q", err, journal.String())
	}
}
