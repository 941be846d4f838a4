package local

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
)

// BenchmarkCase is what one case costs in a lane's helper and in the parent, when each
// is handed over alone, and when eight are, as a check does with quick ones.
func BenchmarkCase(b *testing.B) {
	c := benchCorpus(b)
	for _, words := range [][]string{{"/bin/true"}, {"/bin/cp", "{in}", "{out}"}, {"/bin/cat", "{in}"}} {
		for _, lanes := range []int{1, 2} {
			for _, together := range []int{1, 8} {
				b.Run(fmt.Sprintf("%s/lanes=%d/batch=%d", filepath.Base(words[0]), lanes, together), func(b *testing.B) {
					benchmarkCase(b, c, words, lanes, together)
				})
			}
		}
	}
}

func benchmarkCase(b *testing.B, c *corpus.Corpus, words []string, lanes, together int) {
	self, err := os.Executable()
	must(b, err)
	crew, err := Start(b.Context(), Options{Lanes: lanes, Helper: []string{self}, Corpus: c, Timeout: time.Minute, Grace: time.Second, OutputMax: 64 << 20, Note: func(s string) { b.Log(s) }})
	must(b, err)
	command, err := exec.Resolve(words, false, false)
	must(b, err)
	var next, tool atomic.Int64
	var wg sync.WaitGroup
	before := usage(b)
	b.ResetTimer()
	for range lanes {
		wg.Go(func() {
			for {
				end := int(next.Add(int64(together)))
				jobs := benchJobs(c, command, end-together, min(end, b.N))
				if len(jobs) == 0 || !runJobs(b, crew, jobs, &tool) {
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	parent := usage(b) - before
	must(b, crew.Close())
	perCase := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(b.N) }
	b.ReportMetric(perCase(parent), "parent-µs/op")
	b.ReportMetric(perCase(crew.OwnCPU()), "helper-µs/op")
	b.ReportMetric(perCase(time.Duration(tool.Load())), "tool-µs/op")
	b.ReportMetric(perCase(crew.OwnCPU()+parent), "own-µs/op")
}

// benchJobs are the jobs from first up to end; none when first is behind it.
func benchJobs(c *corpus.Corpus, command *exec.Command, first, end int) (jobs []exec.Job) {
	cases := c.Cases()
	for i := first; i < end; i++ {
		jobs = append(jobs, exec.Job{Source: cases[i%len(cases)], Command: command, Avoid: exec.NoLane})
	}
	return jobs
}

// runJobs runs all jobs, in as many batches as it takes, and adds what the tool took.
func runJobs(b *testing.B, crew *Crew, jobs []exec.Job, tool *atomic.Int64) (ok bool) {
	for ok = true; ok && len(jobs) > 0; {
		ran := crew.RunAll(b.Context(), exec.Batch{Jobs: jobs, Started: func(int) {}, Ended: func(_ int, r *exec.Result, err error) {
			if err != nil {
				b.Error(err)
				ok = false
				return
			}
			tool.Add(int64(r.Cost.CPU))
			r.Release()
		}})
		jobs = jobs[ran:]
	}
	return ok
}

// benchCorpus has 40 headers and 100 sources in nine folders.
func benchCorpus(b *testing.B) *corpus.Corpus {
	path := filepath.Join(b.TempDir(), "c.tar")
	f, err := os.Create(path)
	must(b, err)
	w := tar.NewWriter(f)
	add := func(name string, size int) {
		must(b, w.WriteHeader(&tar.Header{Name: name, Size: int64(size), Mode: 0o644}))
		_, err := w.Write(bytes.Repeat([]byte("x"), size))
		must(b, err)
	}
	for i := range 40 {
		add(fmt.Sprintf("inc/HDR_%d.h", i), 2000)
	}
	for i := range 100 {
		add(fmt.Sprintf("d%d/case%d.c", i/12, i), 1000)
	}
	must(b, w.Close())
	must(b, f.Close())
	c, err := corpus.Open(b.Context(), corpus.Options{Path: path})
	must(b, err)
	b.Cleanup(func() { must(b, c.Close()) })
	return c
}

// usage is the CPU that this process has taken.
func usage(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
