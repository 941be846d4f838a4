package files_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
)

// serve serves a new store.
func serve(t *testing.T, engine fileio.Engine, o files.Options) string {
	t.Helper()
	s := enginetest.Open(t, engine, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := httptest.NewServer(files.NewServer(s, o))
	t.Cleanup(server.Close)
	return server.URL
}

// answer is the result of a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask makes a request. headers are pairs of names and values.
func ask(t *testing.T, method, url string, body io.Reader, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

func (a answer) wants(t *testing.T, status int, body string) answer {
	t.Helper()
	if a.status != status || a.body != body && status < 300 {
		t.Errorf("%d with %d bytes (%.60q), want %d with %d", a.status, len(a.body), a.body, status, len(body))
	}
	return a
}

func TestPutGetDelete(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/team/main.golden"
	for i, size := range []int{0, 1, 50_000, 262_144, 1_000_000} {
		data := enginetest.Content(i, size)
		put := ask(t, "PUT", at, bytes.NewReader(data)).wants(t, 204, "")
		got := ask(t, "GET", at, nil).wants(t, 200, string(data))
		head := ask(t, "HEAD", at, nil).wants(t, 200, "")
		for _, a := range []answer{got, head} {
			if a.header.Get("ETag") != put.header.Get("ETag") || a.header.Get("ETag") == "" {
				t.Errorf("put as %s, now %s", put.header.Get("ETag"), a.header.Get("ETag"))
			}
			if a.header.Get("Content-Length") != fmt.Sprint(size) || a.header.Get("Accept-Ranges") != "bytes" {
				t.Errorf("%v", a.header)
			}
		}
	}
	chunked := struct{ io.Reader }{strings.NewReader("in chunks")} // a reader of unknown length
	ask(t, "PUT", at, chunked).wants(t, 204, "")
	ask(t, "GET", at, nil).wants(t, 200, "in chunks")
	ask(t, "DELETE", at, nil).wants(t, 204, "")
	for _, method := range []string{"GET", "HEAD", "DELETE"} {
		ask(t, method, at, nil).wants(t, 404, "")
	}
	ask(t, "POST", at, nil).wants(t, 405, "")
}

// A HEAD does not open the file, whose first bytes a bucket would send then.
func TestHeadReadsNothing(t *testing.T) {
	store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{})
	info := enginetest.Put(t, store, "x", []byte("12345"))
	server := httptest.NewServer(files.NewServer(unread{store, t}, files.Options{}))
	defer server.Close()
	at := server.URL + "/files/x"
	tag := `"` + info.Tag + `"`
	for _, c := range []struct {
		status, length int
		headers        []string
	}{
		{200, 5, nil}, {304, 0, []string{"If-None-Match", tag}}, {412, 0, []string{"If-Match", `"other"`}}, {206, 2, []string{"Range", "bytes=1-2"}},
		{206, 0, []string{"Range", "bytes=0-0,2-3"}}, {416, 0, []string{"Range", "bytes=7-"}},
	} {
		a := ask(t, "HEAD", at, nil, c.headers...).wants(t, c.status, "")
		if got := a.header.Get("Content-Length"); c.length > 0 && got != fmt.Sprint(c.length) || c.status < 400 && a.header.Get("ETag") != tag {
			t.Errorf("%v: %v", c, a.header)
		}
	}
}

// An unread store opens no file.
type unread struct {
	fileio.Files
	t *testing.T
}

func (u unread) Get(context.Context, string) (*fileio.File, error) {
	u.t.Error("a file was opened")
	return nil, fs.ErrNotExist
}

func TestRangesAndConditionsOfGet(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/x"
	data := string(enginetest.Content(1, 700_000))
	tag := ask(t, "PUT", at, strings.NewReader(data)).header.Get("ETag")
	ask(t, "GET", at, nil, "Range", "bytes=0-0").wants(t, 206, data[:1])
	ask(t, "GET", at, nil, "Range", "bytes=300000-399999").wants(t, 206, data[300_000:400_000])
	ask(t, "GET", at, nil, "Range", "bytes=-5").wants(t, 206, data[len(data)-5:])
	ask(t, "GET", at, nil, "Range", "bytes=700000-").wants(t, 416, "")
	several := ask(t, "GET", at, nil, "Range", "bytes=0-0,300000-599999")
	if several.status != 206 || !strings.Contains(several.body, data[300_000:600_000]) {
		t.Errorf("several ranges: %d with %d bytes", several.status, len(several.body))
	}
	ask(t, "GET", at, nil, "If-None-Match", tag).wants(t, 304, "")
	ask(t, "GET", at, nil, "If-None-Match", `"other"`).wants(t, 200, data)
	ask(t, "GET", at, nil, "If-Match", `"other"`).wants(t, 412, "")
	ask(t, "GET", at, nil, "Range", "bytes=1-1", "If-Range", tag).wants(t, 206, data[1:2])
	ask(t, "GET", at, nil, "Range", "bytes=1-1", "If-Range", `"other"`).wants(t, 200, data)
}

func TestConditionsOfPut(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/x"
	put := func(status int, body string, headers ...string) string {
		t.Helper()
		return ask(t, "PUT", at, strings.NewReader(body), headers...).wants(t, status, "").header.Get("ETag")
	}
	put(412, "no", "If-Match", "*")
	first := put(204, "one", "If-None-Match", "*")
	put(412, "no", "If-None-Match", "*")
	put(412, "no", "If-Match", `"other"`)
	put(412, "no", "If-Match", "W/"+first)
	second := put(204, "two", "If-Match", `"other", `+first)
	put(412, "no", "If-Match", first)
	put(412, "no", "If-None-Match", second)
	put(400, "no", "If-Match", "no quotes")
	put(400, "no", "If-Match", "")
	put(400, "o", "Content-Range", "bytes 1-1/3")
	put(412, "no", "If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT")
	ask(t, "DELETE", at, nil, "If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT").wants(t, 412, "")
	ask(t, "DELETE", at, nil, "If-Match", first).wants(t, 412, "")
	ask(t, "GET", at, nil).wants(t, 200, "two")
	ask(t, "DELETE", at, nil, "If-Match", second).wants(t, 204, "")
}

func TestDigest(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/x"
	sum := sha256.Sum256([]byte("right"))
	right := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	ask(t, "PUT", at, strings.NewReader("right"), "Repr-Digest", "md5=:x:, "+right).wants(t, 204, "")
	ask(t, "PUT", at, strings.NewReader("wrong"), "Repr-Digest", right).wants(t, 400, "")
	ask(t, "PUT", at, strings.NewReader("wrong"), "Content-Digest", right).wants(t, 400, "")
	ask(t, "PUT", at, strings.NewReader("right"), "Repr-Digest", "sha-256=nonsense").wants(t, 400, "")
	ask(t, "PUT", at, struct{ io.Reader }{strings.NewReader(strings.Repeat("wrong", 100_000))}, "Repr-Digest", right).wants(t, 400, "")
	ask(t, "GET", at, nil).wants(t, 200, "right")
}

func TestNames(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	for _, bad := range []string{"//etc", "a//b", "%2e%2e/x", "..%2fx", "a/%2E%2E/b", "%00", "a%0ab", "a/", "%ff", strings.Repeat("a", 300)} {
		ask(t, "PUT", url+"/files/"+bad, strings.NewReader("x")).wants(t, 400, "")
		ask(t, "GET", url+"/files/"+bad, nil).wants(t, 400, "")
	}
	ask(t, "GET", url+"/other", nil).wants(t, 404, "")
	for _, good := range []string{"a%20b", "%C3%A4", "a%2Fb", "%25", "A"} {
		ask(t, "PUT", url+"/files/"+good, strings.NewReader(good)).wants(t, 204, "")
		ask(t, "GET", url+"/files/"+good, nil).wants(t, 200, good)
	}
	ask(t, "GET", url+"/files/a/b", nil).wants(t, 200, "a%2Fb")
}

func TestList(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	for i := range 5 {
		ask(t, "PUT", fmt.Sprintf("%s/files/p/%d%%20<b>", url, i), strings.NewReader("12345"[:i])).wants(t, 204, "")
	}
	type listing struct {
		Files []struct {
			Name string
			Size int
			ETag string
		}
		Next string
	}
	var names []string
	after := ""
	for {
		var l listing
		got := ask(t, "GET", url+"/files/?prefix=p/&limit=2&after="+strings.ReplaceAll(after, " ", "%20"), nil)
		if err := json.Unmarshal([]byte(got.body), &l); err != nil || got.status != 200 {
			t.Fatal(err, got)
		}
		for _, f := range l.Files {
			names = append(names, fmt.Sprint(f.Name, f.Size, f.ETag != ""))
		}
		if after = l.Next; after == "" {
			break
		}
	}
	if got := strings.Join(names, ","); got != "p/0 <b>0 true,p/1 <b>1 true,p/2 <b>2 true,p/3 <b>3 true,p/4 <b>4 true" {
		t.Error(got)
	}
	page := ask(t, "GET", url+"/files/", nil, "Accept", "text/html,*/*")
	if !strings.Contains(page.body, `<a href="/files/p/1%20%3Cb%3E">p/1 &lt;b&gt;</a>`) || strings.Contains(page.body, "<b>") {
		t.Error(page.body)
	}
	ask(t, "GET", url+"/files/?limit=0", nil).wants(t, 400, "")
	ask(t, "PUT", url+"/files/", nil).wants(t, 405, "")
}

func TestToken(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{Tokens: []string{"secret"}}) + "/files/x"
	ask(t, "PUT", at, strings.NewReader("x")).wants(t, 401, "")
	ask(t, "PUT", at, strings.NewReader("x"), "Authorization", "Bearer secrets").wants(t, 401, "")
	ask(t, "PUT", at, strings.NewReader("x"), "Authorization", "secret").wants(t, 401, "")
	ask(t, "PUT", at, strings.NewReader("x"), "Authorization", "Bearer secret").wants(t, 204, "")
	ask(t, "PUT", at, strings.NewReader("x"), "Authorization", "bearer secret").wants(t, 204, "")
	if got := ask(t, "GET", at, nil); got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
		t.Errorf("%+v", got)
	}
}

// A token that only reads has an answer for every request that changes nothing, and 403 for all others.
func TestReadToken(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{Tokens: []string{"secret"}, ReadTokens: []string{"reader"}})
	ask(t, "PUT", at+"/files/x", strings.NewReader("x"), "Authorization", "Bearer secret").wants(t, 204, "")
	const api = "/build.bazel.remote.execution.v2."
	for request, status := range map[string]int{
		"GET /files/x": 200, "HEAD /files/x": 200, "GET /files/": 200, "OPTIONS /files/x": 204, "POST /bench": 200,
		"PUT /files/x": 403, "DELETE /files/x": 403, "MKCOL /files/y": 403, "POST /files/x": 403, "PATCH /files/x": 403,
		"POST /muster.files.v1.Files/Upload": 403, "POST /muster.files.v1.Files/Delete": 403, "POST /muster.files.v1.Files/Clean": 403,
		"POST " + api + "ActionCache/UpdateActionResult": 403, "POST " + api + "ContentAddressableStorage/BatchUpdateBlobs": 403,
		"POST /google.bytestream.ByteStream/Write": 403, "POST " + api + "Execution/Execute": 403,
		"POST " + api + "ActionCache/GetActionResult": 415, "POST /google.bytestream.ByteStream/Read": 415, // not over gRPC
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := ask(t, method, at+path, strings.NewReader("y"), "Authorization", "Bearer reader"); got.status != status {
			t.Errorf("%s: status %d, not %d", request, got.status, status)
		}
	}
	ask(t, "GET", at+"/files/x", nil, "Authorization", "Bearer secret").wants(t, 200, "x")
}

// TestTokenAsPassword: a password is accepted only if nobody on the network can read it, and
// not from another server's page.
func TestTokenAsPassword(t *testing.T) {
	store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := files.NewServer(store, files.Options{Tokens: []string{"sec:ret"}})
	for _, c := range []struct {
		remote, password, site string
		tls                    bool
		status, challenges     int
	}{
		{remote: "127.0.0.1:5", password: "sec:ret", status: 204, challenges: 2},
		{remote: "[::1]:5", password: "sec:ret", status: 204, challenges: 2},
		{remote: "192.0.2.1:5", password: "sec:ret", tls: true, status: 204, challenges: 2},
		{remote: "192.0.2.1:5", password: "sec:ret", status: 401, challenges: 1},
		{remote: "pipe", password: "sec:ret", status: 401, challenges: 1},
		{remote: "127.0.0.1:5", password: "sec", status: 401, challenges: 2},
		{remote: "127.0.0.1:5", password: "", status: 401, challenges: 2},
		{remote: "127.0.0.1:5", password: "sec:ret", site: "cross-site", status: 401, challenges: 2},
		{remote: "127.0.0.1:5", password: "sec:ret", site: "same-origin", status: 204, challenges: 2},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/files/x", strings.NewReader("x"))
		r.RemoteAddr = c.remote
		r.SetBasicAuth("anybody", c.password)
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
		if got := len(w.Header().Values("WWW-Authenticate")); w.Code == 401 && got != c.challenges {
			t.Errorf("%+v: %d ways to bring a token", c, got)
		}
	}
}

func TestBodyMax(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{BodyMax: 10}) + "/files/x"
	ask(t, "PUT", at, strings.NewReader("0123456789")).wants(t, 204, "")
	ask(t, "PUT", at, strings.NewReader("0123456789a")).wants(t, 413, "")
	ask(t, "PUT", at, struct{ io.Reader }{strings.NewReader("0123456789a")}).wants(t, 413, "")
	ask(t, "GET", at, nil).wants(t, 200, "0123456789")
}

// busy refuses all jobs.
type busy struct{ direct.Engine }

func (b *busy) Do(j *fileio.Job) error {
	if j.Op == fileio.OpList { // when the store is opened
		return b.Engine.Do(j)
	}
	return fileio.ErrBusy
}
