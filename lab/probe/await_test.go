package probe

import (
	"bytes"
	"runtime"
	"testing"
)

// Once awaitAll returns, every goroutine has run and waits.
func TestAwaitAll(t *testing.T) {
	const count = 1000
	for range 20 {
		gate := make(chan struct{})
		awaitAll(startWaiting(count, gate), count)
		dump := make([]byte, 1<<20)
		dump = dump[:runtime.Stack(dump, true)]
		close(gate)
		if n := bytes.Count(dump, []byte(" [chan receive]:\nmuster/lab/probe.startWaiting.func1(")); n != count {
			t.Fatalf("%d of %d goroutines wait", n, count)
		}
	}
}
