package check_test

import (
	"archive/tar"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/record"
)

// BenchmarkCheck is a whole check, for its profile: what muster itself does for
// one case, reported as own-µs/case, lanes' helpers and all, beside what the tool takes. With true the
// case leaves nothing, with cp as much as it reads. With sh each output has a line that varies.
//
//	go test -bench Check -cpuprofile cpu.out ./regress/check && go tool pprof -top cpu.out
func BenchmarkCheck(b *testing.B) {
	for _, size := range []int{1 << 10, 67 << 10} {
		for _, words := range [][]string{{"true"}, {"cp", "{in}", "{out}"}, {"sh", "-c", `date +%N; cat "$0"`, "{in}"}} {
			b.Run(fmt.Sprintf("%s/%dK", words[0], size>>10), func(b *testing.B) { benchmarkCheck(b, size, words) })
		}
	}
}

func benchmarkCheck(b *testing.B, size int, words []string) {
	const cases = 1000
	dir := b.TempDir()
	o := regress.Options{
		Corpus:  regress.Corpus{Path: pack(b, filepath.Join(dir, "corpus.tar"), cases, size)},
		Command: regress.Command{Words: words},
		Limits:  regress.Limits{Jobs: 2},
		Judge:   regress.CompareOptions{Repeat: 2, Retries: 2},
		Store:   regress.Store{Golden: filepath.Join(dir, "golden"), State: filepath.Join(dir, "state")},
		Report:  regress.Report{Format: regress.Text, Quiet: true},
		Helper:  []string{"/proc/self/exe"},
	}
	if _, err := record.Run(b.Context(), o, host.Host{Stdout: io.Discard, Stderr: io.Discard}); err != nil {
		b.Fatal(err)
	}
	var own, parent float64
	for b.Loop() {
		before := cpu(b)
		sum, err := check.Run(b.Context(), o, host.Host{Stdout: io.Discard, Stderr: io.Discard})
		if err != nil || sum.ExitStatus != 0 {
			b.Fatal(sum, err)
		}
		own += float64(sum.OwnCPU.Microseconds())
		parent += float64((cpu(b) - before).Microseconds())
	}
	b.ReportMetric(own/float64(b.N)/cases, "own-µs/case")
	b.ReportMetric(parent/float64(b.N)/cases, "parent-µs/case")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/cases, "µs/case")
}

// cpu is what this process alone has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pack writes an archive of sources that do not compress to nothing.
func pack(b *testing.B, path string, cases, size int) string {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := tar.NewWriter(f)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range cases {
		text := make([]byte, 0, size)
		for len(text) < size {
			text = fmt.Appendf(text, "LET X%d = %d\n", random.IntN(1000), random.Int64())
		}
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("src/%03d/p%05d.b", i%20, i), Mode: 0o644, Size: int64(size)}); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(text[:size]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}
