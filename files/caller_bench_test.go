package files_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"muster/fileio/direct"
	"muster/files"
)

// BenchmarkEcho measures a request that touches no file, with 500 callers in the server's
// process.
func BenchmarkEcho(b *testing.B) {
	message := []byte("what is sent back, in thirty-eight by.")
	for _, w := range []way{{}, {json: true}} {
		b.Run(w.String(), func(b *testing.B) {
			c, err := files.NewCaller(files.CallerOptions{URL: serveAll(b, &direct.Engine{}, files.Options{}), JSON: w.json})
			if err != nil {
				b.Fatal(err)
			}
			callers(b, func() error { return c.Bench(b.Context(), message) })
		})
	}
	b.Run("http", func(b *testing.B) {
		at := serveAll(b, &direct.Engine{}, files.Options{}) + "/bench"
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: math.MaxInt, DisableCompression: true}}
		callers(b, func() error {
			got, err := client.Post(at, "text/plain", bytes.NewReader(message))
			if err != nil {
				return err
			}
			defer got.Body.Close()
			if text, err := io.ReadAll(got.Body); err != nil || !bytes.Equal(text, message) {
				return errors.Join(err, errors.New("no echo"))
			}
			return nil
		})
	})
}

// callers makes b.N calls, 500 at a time.
func callers(b *testing.B, call func() error) {
	var made atomic.Int64
	var work sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range 500 {
		work.Go(func() {
			for made.Add(1) <= int64(b.N) {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
