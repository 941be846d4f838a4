// Command client sends a file service or an object store many requests at the same time, and
// prints a line of JSON as muster load does. The object store gets signed requests, as from
// muster serve: what they take is what nobody who uses minio-go can save.
//
//	client -to s3 -addr 127.0.0.1:7070 -bucket kept upload 64 1000 50K
//	client -to http -addr 127.0.0.1:9999 -duration 1s download 64 1000 50K
//
// The arguments are the operation, the numbers of connections and of files, and the size of a file.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/bench/timing"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// A link makes one request after another. get reads a file into a buffer of its size.
type link interface {
	put(ctx context.Context, name string, data []byte) error
	get(ctx context.Context, name string, buffer []byte) error
}

// load is what the arguments say.
type load struct {
	upload             bool
	connections, files int
	size               int
	duration           time.Duration // 0 = each file once
	process            int

	block []byte // file i has its bytes from i on, so that no two are alike
	names []string
}

func run(args []string) error {
	f := flag.NewFlagSet("client", flag.ContinueOnError)
	to := f.String("to", "http", "s3 (an object store), s3-whole (with bodies signed as a whole), http (by net/http) or raw (HTTP with the least effort)")
	addr := f.String("addr", "", "HOST:PORT")
	bucket := f.String("bucket", "", "of the object store")
	digests := f.Bool("digests", false, "name files by their SHA-256, as cas/HASH")
	var l load
	f.IntVar(&l.process, "cpu-of", os.Getpid(), "the `ID` of the process whose CPU is measured")
	f.DurationVar(&l.duration, "duration", 0, "of downloads, which read all files once before, and then again and again; 0 = once")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 4 {
		return errors.New("the arguments are upload or download, and the numbers of connections, files and bytes")
	}
	var errs [3]error
	l.upload = f.Arg(0) == "upload"
	l.connections, errs[0] = strconv.Atoi(f.Arg(1))
	l.files, errs[1] = strconv.Atoi(f.Arg(2))
	kib, isKiB := strings.CutSuffix(f.Arg(3), "K")
	if l.size, errs[2] = strconv.Atoi(kib); isKiB {
		l.size <<= 10
	}
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	l.make(*digests)
	newLink, err := links(*to, *addr, *bucket, l.connections)
	if err != nil {
		return err
	}
	all := make([]link, l.connections)
	for i := range all {
		all[i] = newLink()
	}
	if l.duration > 0 {
		if r := l.send(all, 0); r.Failed > 0 {
			return fmt.Errorf("%d of the first requests failed: %s", r.Failed, r.Reason)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(l.send(all, l.duration))
}

// make makes the contents and the names.
func (l *load) make(digests bool) {
	l.block = make([]byte, l.size+l.files)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(l.block) // it has no error
	for i := range l.files {
		name := fmt.Sprintf("load/%d", i)
		if digests {
			name = fmt.Sprintf("cas/%x", sha256.Sum256(l.content(i)))
		}
		l.names = append(l.names, name)
	}
}

func (l *load) content(i int) []byte { return l.block[i : i+l.size] }

// A result is the line of JSON. Its names are those of muster load; CPU is that of the process that
// -cpu-of names.
type result struct {
	Succeeded int     `json:"succeeded"`
	Failed    int     `json:"failed"`
	Reason    string  `json:"reason,omitempty"`
	PerSecond float64 `json:"requests_per_s"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	CPU       float64 `json:"cpu_ms"` // a request
}

// send makes all requests once, or again and again for a while.
func (l *load) send(links []link, duration time.Duration) (r result) {
	var next, failed atomic.Int64
	var reason atomic.Pointer[error]
	latencies := make([][]time.Duration, len(links))
	began, before := time.Now(), timing.CPUOf(l.process)
	var all sync.WaitGroup
	for i, to := range links {
		all.Go(func() {
			buffer := make([]byte, l.size)
			for {
				n := int(next.Add(1)) - 1
				start := time.Now()
				if duration == 0 && n >= l.files || duration > 0 && start.Sub(began) > duration {
					return
				}
				if err := l.request(to, n%l.files, buffer); err != nil {
					failed.Add(1)
					reason.Store(&err)
					continue
				}
				latencies[i] = append(latencies[i], time.Since(start))
			}
		})
	}
	all.Wait()
	took, cpu := time.Since(began), timing.CPUOf(l.process)-before
	sorted := slices.Sorted(slices.Values(slices.Concat(latencies...)))
	r.Succeeded, r.Failed = len(sorted), int(failed.Load())
	if e := reason.Load(); e != nil {
		r.Reason = (*e).Error()
	}
	if len(sorted) == 0 {
		return r
	}
	r.PerSecond = float64(len(sorted)) / took.Seconds()
	r.P50, r.P99 = millis(sorted[len(sorted)/2]), millis(sorted[len(sorted)*99/100])
	r.CPU = millis(cpu) / float64(len(sorted))
	return r
}

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }

// request makes the request of one file. Of what was read it compares the ends: comparing all
// would take the server's processors.
func (l *load) request(to link, i int, buffer []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if l.upload {
		return to.put(ctx, l.names[i], l.content(i))
	}
	err := to.get(ctx, l.names[i], buffer)
	ends := min(64, l.size)
	if want := l.content(i); err == nil && !(bytes.Equal(buffer[:ends], want[:ends]) && bytes.Equal(buffer[l.size-ends:], want[l.size-ends:])) {
		err = errors.New("another file")
	}
	return err
}
