package files_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
)

const (
	servicePath = "/muster.files.v1.Files/"
	stream      = "application/connect+json"
)

// unary calls a method as curl does, and decodes the answer.
func unary(t *testing.T, at, method, message string, headers ...string) (status int, answer map[string]any) {
	t.Helper()
	got := ask(t, "POST", at+servicePath+method, strings.NewReader(message), append(headers, "Content-Type", "application/json")...)
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
		t.Fatalf("%s %s: %q", method, message, got.body)
	}
	return got.status, answer
}

// envelope is a message in a stream.
func envelope(flags byte, message string) string {
	prefix := binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(message)))
	return string(prefix) + message
}

// opened decodes the envelopes of an answer: the messages and the final status.
func opened(t *testing.T, body string) (messages []map[string]any, end string) {
	t.Helper()
	for body != "" {
		n := 5 + int(binary.BigEndian.Uint32([]byte(body[1:5])))
		flags, text := body[0], body[5:n]
		body = body[n:]
		if flags == 2 {
			if end = text; body != "" {
				t.Errorf("%q follows the end", body)
			}
			return messages, end
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	t.Error("no end")
	return messages, end
}

func TestMessagesAsCurlSendsThem(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{PageSize: 4})
	body := envelope(0, `{"name":"x","size":"10"}`) + envelope(0, `{"data":"MDEyMzQ1"}`) + envelope(0, `{}`) + envelope(0, `{"data":"Njc4OQ=="}`)
	messages, end := opened(t, ask(t, "POST", at+servicePath+"Upload", strings.NewReader(body), "Content-Type", stream).body)
	if len(messages) != 1 || messages[0]["size"] != "10" || messages[0]["etag"] == "" || end != "{}" {
		t.Error(messages, end)
	}
	tag := messages[0]["etag"]
	if status, got := unary(t, at, "Exist", `{"name":"x"}`); status != 200 || got["exists"] != true || got["size"] != "10" {
		t.Error(status, got)
	}
	query := "?connect=v1&encoding=json&message=" + url.QueryEscape(`{"name":"x"}`)
	if got := ask(t, "GET", at+servicePath+"Exist"+query, nil); got.status != 200 || !strings.Contains(got.body, "true") {
		t.Error(got)
	}
	messages, end = opened(t, ask(t, "POST", at+servicePath+"Download", strings.NewReader(envelope(0, `{"name":"x"}`)), "Content-Type", stream).body)
	if len(messages) != 3 || messages[0]["size"] != "10" || messages[0]["etag"] != tag || messages[1]["size"] != nil || messages[2]["data"] != "ODk=" || end != "{}" {
		t.Error(messages, end)
	}
	if status, got := unary(t, at, "Bench", `{"message":"aGVsbG8="}`); status != 200 || got["message"] != "aGVsbG8=" {
		t.Error(status, got)
	}
	if status, got := unary(t, at, "Delete", `{"name":"x"}`); status != 200 || len(got) != 0 {
		t.Error(status, got)
	}
	if status, got := unary(t, at, "Delete", `{"name":"x"}`); status != 404 || got["code"] != "not_found" || got["message"] != "no such file or directory" {
		t.Error(status, got)
	}
	if status, got := unary(t, at, "Exist", `{"name":"x"}`); status != 200 || len(got) != 0 {
		t.Error(status, got)
	}
	if status, got := unary(t, at, "Clean", `{"prefix":"x"}`); status != 200 || len(got) != 0 {
		t.Error(status, got)
	}
	ask(t, "POST", at+servicePath+"Other", strings.NewReader("{}"), "Content-Type", "application/json").wants(t, 404, "")
	ask(t, "GET", at+servicePath+"Delete"+query, nil).wants(t, 405, "")
	ask(t, "POST", at+servicePath+"Exist", strings.NewReader("{}"), "Content-Type", "text/plain").wants(t, 415, "")
}

func TestHostileMessages(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{BodyMax: 300_000})
	long := base64.StdEncoding.EncodeToString(make([]byte, 100_000))
	x := envelope(0, `{"name":"x"}`)
	for what, row := range map[string]struct{ body, code string }{
		"nothing":            {"", "invalid_argument"},
		"an empty message":   {envelope(0, ""), "invalid_argument"},
		"data before a name": {envelope(0, `{"data":"AAAA"}`) + x, "invalid_argument"},
		"two names":          {x + x, "invalid_argument"},
		"two sizes":          {x + envelope(0, `{"size":"3","data":"AAAA"}`), "invalid_argument"},
		"dots":               {envelope(0, `{"name":"../x"}`), "invalid_argument"},
		"a slash":            {envelope(0, `{"name":"/x"}`), "invalid_argument"},
		"too few":            {envelope(0, `{"name":"x","size":"4","data":"AAAA"}`), "invalid_argument"},
		"too many":           {envelope(0, `{"name":"x","size":2,"data":"AAAA"}`), "invalid_argument"},
		"a size too large":   {envelope(0, `{"name":"x","size":"300001"}`), "resource_exhausted"},
		"a long message":     {x + envelope(0, `{"data":"`+long+`"}`), "resource_exhausted"},
		"a longer message":   {x + "\x00\xff\xff\xff\xffAAAA", "resource_exhausted"},
		"half a message":     {x + envelope(0, `{"data":"AAAA"}`)[:12], "internal"},
		"half a prefix":      {x + "\x00\x00", "internal"},
		"compressed":         {envelope(1, `{"name":"x"}`), "internal"},
	} {
		got := ask(t, "POST", at+servicePath+"Upload", struct{ io.Reader }{strings.NewReader(row.body)}, "Content-Type", stream)
		if messages, end := opened(t, got.body); len(messages) != 0 || !strings.Contains(end, `"`+row.code+`"`) {
			t.Errorf("%s: %v %s", what, messages, end)
		}
		ask(t, "GET", at+"/files/x", nil).wants(t, 404, "")
	}
	for method, row := range map[string]struct{ message, code string }{
		"Exist":  {`{"name":"a/../b"}`, "invalid_argument"},
		"Delete": {`{"name":""}`, "invalid_argument"},
		"Clean":  {`{}`, "invalid_argument"},
		"Bench":  {`{"message":"` + long + `"}`, "resource_exhausted"},
	} {
		if _, got := unary(t, at, method, row.message); got["code"] != row.code {
			t.Error(method, got)
		}
	}
	if _, got := unary(t, at, "Exist", "\x1f\x8b", "Content-Encoding", "gzip"); got["code"] != "unimplemented" {
		t.Error(got)
	}
	got := ask(t, "POST", at+servicePath+"Download", strings.NewReader(envelope(0, `{"name":"x"}`)), "Content-Type", stream)
	if messages, end := opened(t, got.body); len(messages) != 0 || !strings.Contains(end, `"not_found"`) {
		t.Error(messages, end)
	}
}

// endless has more bytes than anybody may read.
type endless struct{ given atomic.Int64 }

const muchTooMuch = 256 << 20

func (e *endless) Read(p []byte) (int, error) {
	if e.given.Add(int64(len(p))) >= muchTooMuch {
		return 0, io.EOF
	}
	return len(p), nil
}

func TestEndlessMessage(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{})
	for _, where := range []string{servicePath + "Bench", servicePath + "Exist", "/bench"} {
		body := &endless{}
		// It is answered while it is sent, which the client takes for an error or not.
		got, err := http.Post(at+where, "application/json", body)
		if err == nil {
			_ = got.Body.Close()
			if got.StatusCode < 400 {
				t.Error(where, got.Status)
			}
		}
		if body.given.Load() >= muchTooMuch {
			t.Errorf("%s read it all", where)
		}
	}
}

// An upload that is cut off at any point leaves no file and no memory. With the largest pages,
// memory suffices for fewer uploads than this test makes.
func TestUploadCutOff(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := httptest.NewServer(files.NewServer(s, files.Options{PageSize: files.PageSizeMax}))
	defer server.Close()
	if _, err := s.Put(t.Context(), "old", strings.NewReader("before"), -1, nil); err != nil {
		t.Fatal(err)
	}
	piece := envelope(0, `{"data":"`+base64.StdEncoding.EncodeToString(make([]byte, 50_000))+`"}`)
	for i := range 60 {
		body := envelope(0, `{"name":"`+[]string{"old", "new"}[i%2]+`"}`) + strings.Repeat(piece, i%3*4)
		cutOff(t, server.Listener.Addr().String(), body+[]string{"", piece[:3], piece[:100]}[i/2%3])
	}
	ask(t, "POST", server.URL+"/bench", strings.NewReader("there is room")).wants(t, 200, "there is room")
	server.Close() // waits for all requests
	if now, err := s.Stat(t.Context(), "old"); now.Size != 6 || err != nil {
		t.Error(now, err)
	}
	if _, err := s.Stat(t.Context(), "new"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A client that stops within a message is cut off and leaves no file.
func TestSlowMessages(t *testing.T) {
	inBubble(t, files.Options{}, func(b *bubble) {
		piece := envelope(0, `{"data":"`+base64.StdEncoding.EncodeToString(make([]byte, 50_000))+`"}`)
		for _, body := range []string{"", "\x00", envelope(0, `{"name":"x"}`), envelope(0, `{"name":"x"}`) + strings.Repeat(piece, 6) + piece[:9]} {
			for _, where := range []string{servicePath + "Upload", servicePath + "Download", servicePath + "Bench", "/bench"} {
				kind := stream
				if strings.HasSuffix(where, "ench") {
					kind = "application/json"
				}
				c := b.raw(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000000\r\n\r\n%s", where, kind, body))
				answer, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					b.Fatal(where, err)
				}
				text, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode < 400 && kind != stream {
					b.Errorf("%s: %d bytes, then nothing: %s, %v", where, len(body), answer.Status, err)
				}
				answer.Body.Close()
				if bytes.Contains(text, []byte("timeout")) || len(body) < 100 && !bytes.Contains(text, []byte("the client took too long")) {
					b.Errorf("%s: %d bytes, then nothing: %s", where, len(body), text)
				}
			}
		}
		if b.has("x") {
			b.Error("a part of an upload is a file")
		}
	})
}

// cutOff uploads a body without its end.
func cutOff(t *testing.T, address, body string) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST %sUpload HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", servicePath, stream, len(body), body)
	if err != nil {
		t.Fatal(err)
	}
}

func TestMessagesToken(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{Tokens: []string{"secret"}})
	for _, where := range []string{servicePath + "Exist", servicePath + "Clean", "/bench"} {
		ask(t, "POST", at+where, strings.NewReader(`{"name":"x"}`), "Content-Type", "application/json").wants(t, 401, "")
	}
	if status, got := unary(t, at, "Exist", `{"name":"x"}`, "Authorization", "Bearer secret"); status != 200 {
		t.Error(got)
	}
	ask(t, "POST", at+"/bench", strings.NewReader("x"), "Authorization", "Bearer secret").wants(t, 200, "x")
}

func TestBench(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/bench"
	for _, size := range []int{0, 38, 64 << 10} {
		data := enginetest.Content(1, size)
		ask(t, "POST", at, bytes.NewReader(data)).wants(t, 200, string(data))
		ask(t, "POST", at, struct{ io.Reader }{bytes.NewReader(data)}).wants(t, 200, string(data))
	}
	ask(t, "POST", at, bytes.NewReader(make([]byte, 64<<10+1))).wants(t, 413, "")
	ask(t, "POST", at, struct{ io.Reader }{bytes.NewReader(make([]byte, 64<<10+1))}).wants(t, 413, "")
	if got := ask(t, "GET", at, nil).wants(t, 405, ""); got.header.Get("Allow") != "POST" {
		t.Error(got)
	}
}

// A page limits each read, not the size of a file.
func TestPageSizeOfBodies(t *testing.T) {
	for _, page := range []int{1000, files.PageSizeMax, 2 * files.PageSizeMax} {
		at := serve(t, &direct.Engine{}, files.Options{PageSize: page}) + "/files/x"
		data := string(enginetest.Content(1, 700_000))
		ask(t, "PUT", at, strings.NewReader(data)).wants(t, 204, "")
		ask(t, "GET", at, nil).wants(t, 200, data)
	}
}

// FuzzMessages sends arbitrary bodies. The service must not store more than BodyMax. Only
// streams may break, with an error that says so.
func FuzzMessages(f *testing.F) {
	methods := []string{"Upload", "Download", "Exist", "Delete", "Clean", "Bench"}
	types := []string{"application/json", "application/proto", stream, "application/connect+proto", "application/grpc+proto", "application/grpc-web+json"}
	for i := range methods {
		for k := range types {
			f.Add(byte(i), byte(k), []byte(`{"name":"x"}`))
			f.Add(byte(i), byte(k), []byte(envelope(0, `{"name":"x"}`)+envelope(0, `{"data":"AAAA"}`)))
			f.Add(byte(i), byte(k), []byte("\x0a\x01x"))
			f.Add(byte(i), byte(k), []byte(envelope(0, "\x0a\x01x")+envelope(0, "\x1a\x01x")))
		}
	}
	s := enginetest.Open(f, &direct.Engine{}, f.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := files.NewServer(s, files.Options{BodyMax: 1000, PageSize: 10})
	f.Fuzz(func(t *testing.T, method, kind byte, body []byte) {
		r := httptest.NewRequest("POST", servicePath+methods[int(method)%len(methods)], bytes.NewReader(body))
		r.Header.Set("Content-Type", types[int(kind)%len(types)])
		r.ProtoMajor = 2 // for gRPC
		got := httptest.NewRecorder()
		server.ServeHTTP(got, r)
		if got.Code >= 500 && got.Code != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", r.URL, got.Code, got.Body)
		}
		infos, _, err := s.List(t.Context(), "", "", fileio.ListMax)
		if err != nil {
			t.Error(err)
		}
		for _, i := range infos {
			if i.Size > 1000 {
				t.Errorf("%q has %d bytes", i.Name, i.Size)
			}
			if err := s.Delete(t.Context(), i.Name, nil); err != nil {
				t.Error(err)
			}
		}
	})
}
