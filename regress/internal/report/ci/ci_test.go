package ci

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/report"
)

// events is a check of n cases with a cause each, and a flaky case.
func events(n int) []report.Event {
	list := []report.Event{report.Started{Command: "check", Corpus: "src", Folder: true, Cases: n + 1}}
	s := regress.Summary{Command: "check", Run: "20250131-142501-3f9a", Cases: n + 1, ExitStatus: 1}
	for i := range n {
		list = append(list, report.Case{Name: fmt.Sprint("c", i), Index: i, Verdict: regress.Changed})
	}
	list = append(list, report.Case{Name: "f", Index: n, Verdict: regress.Flaky})
	for i := range n {
		name := fmt.Sprint("c", i)
		list = append(list, report.Group{
			Cause:   cause.Cause{ID: fmt.Sprint("G", i+1), Signature: name, Name: "text", Cases: 1, Example: name},
			Excerpt: strings.Repeat("::error::é\n", 1000), Members: []string{name},
		})
	}
	s.Verdicts[regress.Changed], s.Verdicts[regress.Flaky] = n, 1
	return append(list, report.Finished{Summary: s})
}

func play(t *testing.T, r report.Reporter, list []report.Event) {
	t.Helper()
	var errs []error
	for _, ev := range list {
		errs = append(errs, r.Handle(ev))
	}
	if err := errors.Join(append(errs, r.Close())...); err != nil {
		t.Fatal(err)
	}
}

// GitHub shows ten annotations of a kind, so the tenth error counts the causes that have none.
func TestGitHubBounds(t *testing.T) {
	for n, want := range map[int]int{0: 1, 9: 10, 10: 10, 30: 10} {
		var b bytes.Buffer
		play(t, NewGitHub(report.Tee{}, &b, ""), events(n))
		lines := strings.Split(b.String(), "\n")
		errs := regexp.MustCompile(`(?m)^::error `).FindAllString(b.String(), -1)
		if len(errs) != want || len(lines) != want+3 {
			t.Errorf("%d causes: %d errors in %d lines, not %d", n, len(errs), len(lines), want)
		}
		if more := strings.Contains(b.String(), fmt.Sprintf("title=muster %d more causes::", n-8)); more != (n > 9) {
			t.Errorf("%d causes: says how many more: %t", n, more)
		}
		for _, line := range lines {
			if len(line) > 2*messageBytesMax {
				t.Errorf("%d causes: a line of %d bytes", n, len(line))
			}
		}
	}
}

// Without causes, more verdicts than GitHub has annotations may fail a check.
func TestGitHubVerdictsWithoutCauses(t *testing.T) {
	s := regress.Summary{Command: "check", ExitStatus: 1}
	list := []report.Event{report.Started{Command: "check"}}
	for v := range regress.Identical {
		s.Verdicts[v] = 1
		list = append(list, report.Case{Name: v.String(), Index: int(v), Verdict: v})
	}
	var b bytes.Buffer
	play(t, NewGitHub(report.Tee{}, &b, ""), append(list, report.Finished{Summary: s}))
	if n := strings.Count(b.String(), "\n::error "); n != annotationsMax {
		t.Errorf("%d errors, not %d\n%s", n, annotationsMax, b.String())
	}
}

// A run that fails for another reason than its cases has one annotation, and a run that is clean none.
func TestGitHubOfTheRun(t *testing.T) {
	for status, want := range map[int]string{regress.StatusDiffers: "::error title=muster check::all 3 cases identical, but the change costs more: cpu>5%25\n", regress.StatusClean: ""} {
		s := regress.Summary{Command: "check", Cases: 3, ExitStatus: status}
		s.Verdicts[regress.Identical] = 3
		if status != regress.StatusClean {
			s.Over = []string{"cpu>5%"}
		}
		var b bytes.Buffer
		play(t, NewGitHub(report.Tee{}, &b, ""), []report.Event{report.Started{Command: "check"}, report.Finished{Summary: s}})
		if _, after, _ := strings.Cut(b.String(), "::\n"); after != want {
			t.Errorf("%d: %q, not %q", status, after, want)
		}
	}
}

// A source has a link only if the corpus is a folder below the one in which muster runs.
func TestSourcePath(t *testing.T) {
	for _, c := range []struct {
		started report.Started
		want    string
	}{
		{report.Started{Corpus: "./src/", Folder: true}, "src/a%25.b"},
		{report.Started{Corpus: ".", Folder: true}, "a%25.b"},
		{report.Started{Corpus: "src.tar"}, "a%25.b"},
		{report.Started{Corpus: "../src", Folder: true}, "a%25.b"},
		{report.Started{Corpus: "/src", Folder: true}, "a%25.b"},
	} {
		if got := sourcePath(c.started, "a%.b"); got != c.want {
			t.Errorf("%s: %s, not %s", c.started.Corpus, got, c.want)
		}
	}
}
