package remotecache

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
)

// A client that sends or reads slowly must not keep the memory of a large message.
func TestLargeMessageTakesTooLong(t *testing.T) {
	m := &room{until: time.Now().Add(-1)}
	body := &messageBody{ReadCloser: io.NopCloser(strings.NewReader("x")), room: m, prefix: []byte{}, left: 1}
	if _, err := body.Read(make([]byte, 1)); connect.CodeOf(err) != connect.CodeDeadlineExceeded {
		t.Errorf("read: %v", err)
	}
	if _, err := (&timedWriter{httptest.NewRecorder(), m}).Write([]byte("x")); connect.CodeOf(err) != connect.CodeDeadlineExceeded {
		t.Errorf("write: %v", err)
	}
}
