package load

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// The buckets cover all latencies and count each once.
func TestHistogram(t *testing.T) {
	h := newHistogram()
	for latency, n := range map[time.Duration]int64{
		time.Microsecond: 1, 180 * time.Microsecond: 100, 200 * time.Microsecond: 100, 700 * time.Microsecond: 49, 30 * time.Second: 1, time.Hour: 1,
	} {
		if err := h.RecordValues(int64(latency), n); err != nil {
			t.Fatal(err)
		}
	}
	for _, limits := range [][]time.Duration{coarseLimits, fineLimits} {
		var sum int64
		list := bucketsOf(h, limits)
		for i, b := range list {
			sum += b.Requests
			if i > 0 && b.UpTo <= list[i-1].UpTo {
				t.Errorf("the limit %v follows %v", b.UpTo, list[i-1].UpTo)
			}
		}
		if sum != h.TotalCount() || list[0].UpTo != time.Microsecond || list[len(list)-1].UpTo < time.Hour {
			t.Errorf("%d of %d requests in %v", sum, h.TotalCount(), list)
		}
	}
	if list := bucketsOf(newHistogram(), coarseLimits); len(list) != 0 {
		t.Errorf("%v without requests", list)
	}
}

func TestHistogramText(t *testing.T) {
	h := newHistogram()
	for latency, n := range map[time.Duration]int64{150 * time.Microsecond: 2000, 1500 * time.Microsecond: 500, time.Second: 3} {
		if err := h.RecordValues(int64(latency), n); err != nil {
			t.Fatal(err)
		}
	}
	const want = `       latency  requests
  up to 200 µs     2,000  79.9 %  ████████████████████████████████████████
  up to 500 µs         0   0.0 %
    up to 1 ms         0   0.0 %
    up to 2 ms       500  20.0 %  ██████████
    up to 5 ms         0   0.0 %
   up to 10 ms         0   0.0 %
   up to 20 ms         0   0.0 %
   up to 50 ms         0   0.0 %
  up to 100 ms         0   0.0 %
  up to 200 ms         0   0.0 %
  up to 500 ms         0   0.0 %
     up to 1 s         3   0.1 %
`
	if got := histogramText(bucketsOf(h, coarseLimits)); got != want {
		t.Errorf("%s", got)
	}
}

// A failure has the system's words, without those of Go's library and without ports.
func TestConnectionError(t *testing.T) {
	broken := func(op string, err error) error {
		return &net.OpError{Op: op, Net: "tcp", Source: &net.TCPAddr{Port: 1}, Addr: &net.TCPAddr{Port: 2}, Err: err}
	}
	refused, missing := os.NewSyscallError("connect", syscall.ECONNREFUSED), &net.DNSError{Err: "no such host", Name: "elsewhere", IsNotFound: true}
	for _, c := range []struct {
		err  error
		want string
	}{
		{broken("dial", refused), "no answer: connection refused"},
		{broken("read", refused), "no answer: connection refused"},
		{broken("dial", os.ErrDeadlineExceeded), "no answer in time"},
		{context.DeadlineExceeded, "no answer in time"},
		{broken("dial", missing), "no answer: no machine has the name elsewhere"},
		{broken("remote error", errors.New("tls: bad certificate")), "no answer: tls: bad certificate"},
		{io.EOF, "no answer: the connection was closed"},
	} {
		if got := (&connectionError{c.err}).Error(); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
