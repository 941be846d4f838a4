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

	"fmt"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
	"sync"
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

// A slow disk does not get a client cut off: neither over HTTP/1.1 nor over HTTP/2, whose
// deadlines also break streams that nobody reads or writes.
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

// serveHTTP2 serves a new store over HTTP/2, in a bubble. All streams of a connection fit into
// its window, as in package service.
func serveHTTP2(t *testing.T, engine fileio.Engine, folder string) (listener pipes, transport *http.Transport, end func()) {
	store := enginetest.Open(t, engine, folder, fileio.Options{Sync: fileio.SyncNone})
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	listener = make(pipes)
	windows := &http.HTTP2Config{MaxConcurrentStreams: 4, MaxReceiveBufferPerConnection: 256 << 10, MaxReceiveBufferPerStream: 64 << 10}
	server := &http.Server{Handler: files.NewServer(store, files.Options{}), Protocols: &protocols, HTTP2: windows}
	go func() { _ = server.Serve(listener) }()
	transport = &http.Transport{DialContext: listener.dial, Protocols: &protocols}
	return listener, transport, func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}

// While a slow disk keeps the server from reading one upload, other uploads on the same
// connection continue: all of them fit into its window, as in package service.
func TestStreamsBehindTheDisk(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		disk := faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
			if j.Op == fileio.OpWrite {
				time.Sleep(8 * time.Second)
			}
		}})
		_, transport, end := serveHTTP2(t, disk, folder)
		defer end()
		data := enginetest.Content(1, 3_000_000)
		var all sync.WaitGroup
		for n := range 6 {
			all.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprint("http://pipe/files/", n), bytes.NewReader(data))
				if err != nil {
					t.Error(err)
					return
				}
				answer, err := transport.RoundTrip(r)
				if err != nil {
					t.Error(err)
					return
				}
				if answer.Body.Close(); answer.StatusCode/100 != 2 {
					t.Error(answer.Status)
				}
			})
		}
		all.Wait()
	})
}

// An upload that stops on a stream is cut off. Other streams are not.
func TestSilentStream(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, transport, end := serveHTTP2(t, &direct.Engine{}, folder)
		defer end()
		put := func(name string, body io.Reader) (status int, took time.Duration) {
			began := time.Now()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://pipe/files/"+name, body)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			return answer.StatusCode, time.Since(began)
		}
		reader, silent := io.Pipe()
		defer silent.Close()
		var all sync.WaitGroup
		all.Go(func() {
			reader, slow := io.Pipe()
			go func() {
				for range 30 {
					_, _ = slow.Write(make([]byte, 2000))
					time.Sleep(time.Second)
				}
				slow.Close()
			}()
			if status, _ := put("slow", reader); status/100 != 2 {
				t.Errorf("2000 bytes a second: %d", status)
			}
		})
		if status, took := put("silent", reader); status != http.StatusRequestTimeout || took != 5*time.Second {
			t.Errorf("nothing: %d after %v", status, took)
		}
		all.Wait()
	})
}

// An HTTP/2 client that announces length 0 but does not end its body is cut off.
func TestEndlessEmptyBody(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		listener, _, end := serveHTTP2(t, &direct.Engine{}, folder)
		defer end()
		c, err := listener.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		frames := http2.NewFramer(c, c)
		go func() {
			var head bytes.Buffer
			e := hpack.NewEncoder(&head)
			for _, f := range [][2]string{{":method", "PUT"}, {":scheme", "http"}, {":authority", "x"}, {":path", "/files/x"}, {"content-length", "0"}} {
				_ = e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
			}
			_, _ = io.WriteString(c, http2.ClientPreface)
			_ = frames.WriteSettings()
			_ = frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndHeaders: true})
		}()
		for {
			frame, err := frames.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if frame.Header().StreamID == 1 {
				break
			}
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it was answered after %v", took)
		}
	})
}
