package local

import (
	"archive/tar"
	"bytes"
	"context"
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

func usage(who int) time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkCase(b *testing.B) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for i := range 40 {
		body := bytes.Repeat([]byte("x"), 2000)
		w.WriteHeader(&tar.Header{Name: fmt.Sprintf("inc/HDR_%d.h", i), Size: int64(len(body)), Mode: 0o644})
		w.Write(body)
	}
	for i := range 100 {
		body := bytes.Repeat([]byte("x"), 1000)
		w.WriteHeader(&tar.Header{Name: fmt.Sprintf("d%d/case%d.c", i/12, i), Size: int64(len(body)), Mode: 0o644})
		w.Write(body)
	}
	w.Close()
	path := filepath.Join(b.TempDir(), "c.tar")
	os.WriteFile(path, buf.Bytes(), 0o644)
	c, err := corpus.Open(context.Background(), corpus.Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	self, _ := os.Executable()
	for _, cmd := range [][]string{{"/bin/true"}, {"/bin/cp", "{in}", "{out}"}, {"/bin/cat", "{in}"}} {
		for _, lanes := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/lanes=%d", filepath.Base(cmd[0]), lanes), func(b *testing.B) {
				crew, err := Start(context.Background(), Options{Lanes: lanes, Helper: []string{self}, Corpus: c, Timeout: time.Minute, Grace: time.Second, OutputMax: 64 << 20, Note: func(s string) { b.Log(s) }})
				if err != nil {
					b.Fatal(err)
				}
				command, err := exec.Resolve(cmd, false, false)
				if err != nil {
					b.Fatal(err)
				}
				var next atomic.Int64
				var wg sync.WaitGroup
				var tool atomic.Int64
				before := usage(syscall.RUSAGE_SELF)
				b.ResetTimer()
				for range lanes {
					wg.Go(func() {
						for {
							i := int(next.Add(1)) - 1
							if i >= b.N {
								return
							}
							r, err := crew.Run(context.Background(), exec.Job{Source: c.Cases()[i%100], Command: command, Avoid: exec.NoLane})
							if err != nil {
								b.Error(err)
								return
							}
							tool.Add(int64(r.Cost.CPU))
							r.Release()
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				mine := usage(syscall.RUSAGE_SELF) - before
				crew.Close()
				b.ReportMetric(float64(mine.Microseconds())/float64(b.N), "parent-µs/op")
				b.ReportMetric(float64(crew.OwnCPU().Microseconds())/float64(b.N), "helper-µs/op")
				b.ReportMetric(float64(tool.Load())/1e3/float64(b.N), "tool-µs/op")
				b.ReportMetric(float64(crew.OwnCPU().Microseconds()+mine.Microseconds())/float64(b.N), "own-µs/op")
			})
		}
	}
}
