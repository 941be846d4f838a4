package bucket

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A transport may read the body of a failed attempt while the next one is sent, and after that.
// Each attempt sends the right bytes or too few, and nothing reads them after the last one.
func TestLateTransport(t *testing.T) {
	content := bytes.Repeat([]byte("content "), 1<<10)
	for name, send := range map[string]func(*remote, []byte) error{
		"put": func(r *remote, data []byte) error {
			_, err := r.put(t.Context(), "x", data, condition{}, "")
			return err
		},
		"part": func(r *remote, data []byte) error {
			return (&upload{remote: r, key: "x", id: "1"}).add(t.Context(), data)
		},
	} {
		t.Run(name, func(t *testing.T) {
			late := &lateTransport{sent: make([][]byte, 2)}
			core, err := minio.NewCore("s3.example.com", &minio.Options{
				Creds: credentials.NewStaticV4("key", "secret", ""), Region: regionDefault, Secure: true, Transport: matching{late}, MaxRetries: 2,
			})
			if err != nil {
				t.Fatal(err)
			}
			data := bytes.Clone(content)
			if err := send(&remote{peer: peer{bucket: "kept"}, client: core}, data); err != nil {
				t.Fatal(err)
			}
			clear(data) // the memory has another owner
			rest, err := io.ReadAll(late.first)
			if err == nil || !bytes.HasPrefix(content, append(late.sent[0], rest...)) {
				t.Errorf("the first attempt sent %d bytes, and then %d, %v", len(late.sent[0]), len(rest), err)
			}
			if !bytes.Equal(late.sent[1], content) {
				t.Errorf("the repetition sent %d bytes that are not the content", len(late.sent[1]))
			}
		})
	}
}

// A lateTransport answers the first request before it has sent the body. It goes on when it
// sends the second one.
type lateTransport struct {
	first io.Reader
	sent  [][]byte
}

func (l *lateTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{"Etag": {`"tag"`}}, Body: http.NoBody}
	piece := make([]byte, 100)
	if l.first == nil {
		l.first = r.Body
		answer.StatusCode = http.StatusServiceUnavailable
		n, err := io.ReadFull(r.Body, piece)
		l.sent[0] = piece[:n]
		return answer, err
	}
	n, _ := io.ReadFull(l.first, piece)
	l.sent[0] = append(l.sent[0], piece[:n]...)
	var err error
	l.sent[1], err = io.ReadAll(r.Body)
	return answer, err
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// remoteOver returns a remote whose requests are answered by a function.
func remoteOver(t *testing.T, answer transport) *remote {
	t.Helper()
	core, err := minio.NewCore("s3.example.com", &minio.Options{
		Creds: credentials.NewStaticV4("key", "secret", ""), Region: regionDefault, Transport: matching{answer}, MaxRetries: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &remote{peer: peer{bucket: "kept"}, client: core}
}

// endless is a body without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

func (e *endless) Close() error { return nil }

// Little is read of an answer that is neither a file nor a list. The status of an error counts even if
// its text is too long.
func TestEndlessAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		send   func(*remote) error
		want   string
	}{
		"get":  {http.StatusForbidden, func(r *remote) error { _, _, err := r.open(t.Context(), "x", "", 0, 1); return err }, "denies access"},
		"list": {http.StatusForbidden, func(r *remote) error { _, err := r.client.ListObjectsV2("kept", "", "", "", "", 1); return err }, "denies access"},
		"put":  {http.StatusInsufficientStorage, func(r *remote) error { _, err := r.put(t.Context(), "x", nil, condition{}, ""); return err }, syscall.ENOSPC.Error()},
		"complete": {http.StatusOK, func(r *remote) error {
			_, err := (&upload{remote: r, key: "x"}).complete(t.Context(), condition{})
			return err
		}, "it is too long"},
		"busy": {http.StatusServiceUnavailable, func(r *remote) error { _, err := r.stat(t.Context(), "x"); return err }, "too busy"},
	} {
		t.Run(name, func(t *testing.T) {
			body := &endless{}
			r := remoteOver(t, func(q *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: c.status, Request: q, Body: body, Header: http.Header{"Retry-After": {"9"}}}, nil
			})
			err := r.explain(t.Context(), c.send(r))
			if body.read > 2*wordsMax || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d bytes were read: %v", body.read, err)
			}
		})
	}
}
