package report

import (
	"bytes"
	"io"
	"testing"
)

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// write returns the events file of a run.
func write(t interface{ Fatal(...any) }, events []Event) []byte {
	var b bytes.Buffer
	r, err := NewEvents(nopCloser{&b})
	if err != nil {
		t.Fatal(err)
	}
	handAll(t, r, events)
	return b.Bytes()
}

func TestEventsFile(t *testing.T) {
	checkGolden(t, "events.jsonl", write(t, checkRun()))
}
