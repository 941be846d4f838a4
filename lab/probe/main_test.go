package probe_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"muster/lab/probe"
	"muster/lab/results"
)

// probeWord turns the test binary into a probe.
const probeWord = "serve-as-probe"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == probeWord {
		if err := probe.Run(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// self returns the command of a probe that measures q in a process of its own.
func self(t *testing.T, q probe.Question, more ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append(append([]string{self, probeWord}, probe.Args(q)...), more...)
}

// try measures a question in this process, with an empty folder.
func try(t *testing.T, q probe.Question, words ...string) (results.Sample, error) {
	t.Helper()
	return tryIn(t.Context(), t.TempDir(), q, words...)
}

func tryIn(ctx context.Context, dir string, q probe.Question, words ...string) (results.Sample, error) {
	var out strings.Builder
	if err := probe.Run(ctx, append(probe.Args(q, words...), "-dir", dir), strings.NewReader(""), &out); err != nil {
		return results.Sample{}, err
	}
	return results.ParseLine(out.String())
}

// expect measures a question and checks that the sample has operations and figures of some time.
func expect(t *testing.T, q probe.Question, n int, units ...string) results.Sample {
	t.Helper()
	s, err := try(t, q)
	if err != nil || s.N != n {
		t.Errorf("%+v: %+v, %v, want %d operations", q, s, err, n)
	}
	for _, unit := range units {
		if v, ok := s.Value(unit); !ok || v <= 0 {
			t.Errorf("%+v: %v %s", q, v, unit)
		}
	}
	return s
}
