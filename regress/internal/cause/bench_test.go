package cause_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"muster/regress/internal/cause"
)

// manyCases returns outputs in which every second line has another suffix.
func manyCases(n, lines int) []cause.Case {
	cases := make([]cause.Case, n)
	for i := range cases {
		cases[i] = manyLines(i, lines)
	}
	return cases
}

func manyLines(seed, lines int) cause.Case {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	var old, now strings.Builder
	for range lines {
		a, b, c := r.IntN(5000), r.IntN(300), r.IntN(100000)
		fmt.Fprintf(&old, "    var_%d = call_%d(%dll, ptr->field_%d);\n", a, b, c, b)
		fmt.Fprintf(&now, "    var_%d = call_%d(%dLL, ptr->field_%d);\n", a, b, c, b)
		fmt.Fprintf(&old, "    if (var_%d) goto label_%d;\n", b, c)
		fmt.Fprintf(&now, "    if (var_%d) goto label_%d;\n", b, c)
	}
	return changedCase(fmt.Sprintf("case%05d", seed), old.String(), now.String())
}

func analyse(cases []cause.Case) *cause.Found {
	a := cause.New()
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(cases); i += workers {
				a.Add(cases[i])
			}
		})
	}
	wg.Wait()
	return a.Causes()
}

// 3,000 outputs, 300,000 changed lines. To hold: 5 s, 600 MB beside the contents.
func BenchmarkManyCases(b *testing.B) {
	cases := manyCases(3000, 100)
	b.ReportAllocs()
	for b.Loop() {
		f := analyse(cases)
		b.ReportMetric(float64(len(f.Causes)), "causes")
	}
	report(b)
}

// One case of 50 MB, in which every second line differs. To hold: 30 s.
func BenchmarkLargeCase(b *testing.B) {
	cases := []cause.Case{manyLines(1, 650_000)}
	b.ReportMetric(float64(len(cases[0].Parts[0].OldText))/1e6, "MB-of-case")
	for b.Loop() {
		analyse(cases)
	}
	report(b)
}

// One case of 50 MB on one line, and one of noise.
func BenchmarkHostileCases(b *testing.B) {
	line := manyLines(1, 650_000)
	for _, t := range []*[]byte{&line.Parts[0].OldText, &line.Parts[0].NowText} {
		*t = []byte(strings.ReplaceAll(string(*t), "\n", " "))
	}
	noise := changedCase("noise", noiseText(1, 50<<20), noiseText(2, 50<<20))
	for _, c := range []cause.Case{line, noise} {
		b.Run(c.Name, func(b *testing.B) {
			for b.Loop() {
				analyse([]cause.Case{c})
			}
			report(b)
		})
	}
}

func noiseText(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 9))
	b := make([]byte, n)
	const letters = "abcdefgh(){};,. \n0123456789"
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

func report(b *testing.B) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-in-all")
}
