package files_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
	"muster/fileio/faulty"
	"muster/files"
)

// pipes is a listener without a network.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// However long the disk takes, a client is not cut off for it: neither by HTTP/1.1 nor by
// HTTP/2, whose deadlines break a stream also while nobody reads or writes.
func TestDiskTimeDoesNotCount(t *testing.T) {
	for _, version := range []int{1, 2} {
		folder := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			const long = time.Minute
			disk := faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
				if j.Op == fileio.OpWrite || j.Op == fileio.OpRead {
					<-time.After(2 * long)
				}
			}})
			store := enginetest.Open(t, disk, folder, fileio.Options{Sync: fileio.SyncNone})
			var protocols http.Protocols
			protocols.SetHTTP1(version == 1)
			protocols.SetUnencryptedHTTP2(version == 2)
			listener := make(pipes)
			server := &http.Server{Handler: files.NewServer(store, files.Options{}), Protocols: &protocols}
			go func() { _ = server.Serve(listener) }()
			transport := &http.Transport{DialContext: listener.dial, Protocols: &protocols}
			client := &http.Client{Transport: transport}
			data := enginetest.Content(1, 3_000_000)
			for method, body := range map[string]io.Reader{http.MethodPut: bytes.NewReader(data), http.MethodGet: nil} {
				if method == http.MethodGet {
					enginetest.Put(t, store, "x", data)
				}
				r, err := http.NewRequestWithContext(t.Context(), method, "http://pipe/files/x", body)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := client.Do(r)
				if err != nil {
					t.Errorf("HTTP/%d %s: %v", version, method, err)
					continue
				}
				got, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.ProtoMajor != version || answer.StatusCode/100 != 2 || body == nil && !bytes.Equal(got, data) {
					t.Errorf("%s %s: %s, %d bytes, %v", answer.Proto, method, answer.Status, len(got), err)
				}
			}
			transport.CloseIdleConnections()
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
