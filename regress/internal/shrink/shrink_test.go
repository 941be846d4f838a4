package shrink_test

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/shrink"
)

// has says yes to what has all the words.
func has(words ...string) shrink.Test {
	return func(_ context.Context, candidate []byte) (bool, error) {
		for _, w := range words {
			if !bytes.Contains(candidate, []byte(w)) {
				return false, nil
			}
		}
		return true, nil
	}
}

func reduce(t *testing.T, source string, test shrink.Test) shrink.Result {
	t.Helper()
	r, err := shrink.Reduce(t.Context(), []byte(source), shrink.Options{Lanes: 2}, test)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOnlyWhatIsWantedStays(t *testing.T) {
	for _, c := range []struct{ source, wanted, left string }{
		{"a\nb\nc\n", "b", "b"},
		{"int f(int x) { if (x) { return g(x, 1); } return 0; }\nint h() { return 2; }\n", "g(", "g("},
		{"x = (((1 + 2)))", "((2))", ""}, // not in it: nothing may go
		{"say \"it's; {\" now", "\"it's; {\"", "\"it's; {\""},
		{"only", "only", "only"},
		{"a:\n\n\tb   c\n", "b", "b"},
		{"", "", ""},
	} {
		left := c.left
		if left == "" {
			left = c.source
		}
		if r := reduce(t, c.source, has(c.wanted)); string(r.Source) != left || !r.Done {
			t.Errorf("%q, wanted %q: left %q, done %t; want %q", c.source, c.wanted, r.Source, r.Done, left)
		}
	}
}

// Of spaces there stay those that are needed: here an indentation.
func TestSpacesThatNothingNeedsGo(t *testing.T) {
	const source = "\n  if  x :\n\n\t\ty  z\n   done\n\n\n"
	r := reduce(t, source, func(_ context.Context, c []byte) (bool, error) {
		return slices.Equal(strings.Fields(string(c)), strings.Fields(source)) && bytes.Contains(c, []byte("\t")), nil
	})
	if got, want := string(r.Source), "if x :\n\t\ty z\ndone\n"; got != want {
		t.Errorf("left %q, want %q", got, want)
	}
}

// Brackets that must stay balanced, as in every language.
func TestBracketsStayBalanced(t *testing.T) {
	source := strings.Repeat("void f(int a[3]) { while (a[0]) { g(); { h((1)); } } }\n", 30) + "void x() { if (1) { want(2); } }\n"
	r := reduce(t, source, func(_ context.Context, c []byte) (bool, error) {
		return bytes.Count(c, []byte("{")) == bytes.Count(c, []byte("}")) && bytes.Count(c, []byte("(")) == bytes.Count(c, []byte(")")) &&
			bytes.Contains(c, []byte("want")), nil
	})
	if got := strings.TrimSpace(string(r.Source)); got != "want" {
		t.Errorf("left %q", got)
	}
	if r.Tests > 300 {
		t.Errorf("%d tests", r.Tests)
	}
}

func sources() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "b", "c1", " ", "\n", "(", ")", "{", "}", "[", "]", ";", "\"s t\"", "'", "\\", "\xff", "+=", "  x",
		}), 0, 60).Draw(t, "pieces"), "")
	})
}

// However many lanes there are and in whatever order their tests end, the result and the
// number of tests are those of one lane: for a test without any sense too.
func TestLanesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := sources().Draw(t, "source")
		seed := rapid.Uint32().Draw(t, "seed")
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		lanes := rapid.IntRange(2, 7).Draw(t, "lanes")
		odd := func(_ context.Context, c []byte) (bool, error) {
			sum := crc32.ChecksumIEEE(c) ^ seed
			for range sum % 5 {
				runtime.Gosched()
			}
			return sum%3 == 0, nil
		}
		one, err := shrink.Reduce(context.Background(), []byte(source), shrink.Options{Lanes: 1, TestsMax: limit}, odd)
		if err != nil {
			t.Fatal(err)
		}
		many, err := shrink.Reduce(context.Background(), []byte(source), shrink.Options{Lanes: lanes, TestsMax: limit}, odd)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Source, many.Source) || one.Tests != many.Tests || one.Done != many.Done {
			t.Fatalf("one lane %q after %d tests, %d lanes %q after %d", one.Source, one.Tests, lanes, many.Source, many.Tests)
		}
	})
}

// What is left passes the test, is never longer, no candidate is tested twice, and every
// one is shorter than what there was.
func TestResultPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := sources().Draw(t, "source")
		seed := rapid.Uint32().Draw(t, "seed")
		tried := map[string]bool{}
		best := source
		odd := func(_ context.Context, c []byte) (bool, error) {
			if tried[string(c)] || len(c) >= len(best) {
				t.Fatalf("%q tried twice, or no shorter than %q", c, best)
			}
			tried[string(c)] = true
			yes := (crc32.ChecksumIEEE(c)^seed)%3 == 0
			if yes {
				best = string(c)
			}
			return yes, nil
		}
		r, err := shrink.Reduce(context.Background(), []byte(source), shrink.Options{Lanes: 1}, odd)
		if err != nil || string(r.Source) != best || r.Tests != len(tried) {
			t.Fatalf("left %q after %d tests, %v; want %q after %d", r.Source, r.Tests, err, best, len(tried))
		}
	})
}

// An error, and an end that is asked for, leave what was found until then.
func TestEnded(t *testing.T) {
	source := []byte(strings.Repeat("line;\n", 200) + "want")
	broken := errors.New("broken")
	r, err := shrink.Reduce(t.Context(), source, shrink.Options{Lanes: 3}, func(ctx context.Context, c []byte) (bool, error) {
		if len(c) < 300 {
			return false, broken
		}
		return has("want")(ctx, c)
	})
	if !errors.Is(err, broken) || r.Done || len(r.Source) >= len(source) || !bytes.Contains(r.Source, []byte("want")) {
		t.Errorf("left %d bytes of %d, done %t, %v", len(r.Source), len(source), r.Done, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err = shrink.Reduce(ctx, source, shrink.Options{Lanes: 1}, func(ctx context.Context, c []byte) (bool, error) {
		if len(c) < 100 {
			cancel()
			<-ctx.Done()
			return false, ctx.Err()
		}
		return has("want")(ctx, c)
	})
	if !errors.Is(err, context.Canceled) || r.Done || len(r.Source) >= len(source) {
		t.Errorf("left %d bytes of %d, done %t, %v", len(r.Source), len(source), r.Done, err)
	}
}

func TestTestsMax(t *testing.T) {
	source := strings.Repeat("line;\n", 50) + "want"
	told := 0
	r, err := shrink.Reduce(t.Context(), []byte(source), shrink.Options{Lanes: 2, TestsMax: 3, Progress: func(p shrink.Progress) {
		if told++; p.Tests > 3 || p.Size > len(source) || p.Round != 1 || p.Part < 0 || p.Part > 1 {
			t.Errorf("%+v", p)
		}
	}}, has("want"))
	if err != nil || r.Tests != 3 || r.Done || told < 3 {
		t.Errorf("%d tests, done %t, told %d times, %v", r.Tests, r.Done, told, err)
	}
}
