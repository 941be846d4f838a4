package gocache_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/files/gocache"
	"muster/test/kits/enginetest"
)

// answer is what the go command gets.
type answer struct {
	ID            int64
	Err           string
	KnownCommands []string
	Miss          bool
	OutputID      []byte
	Size          int64
	Time          *time.Time
	DiskPath      string
}

// build is a go command with its cache.
type build struct {
	*testing.T
	in       *io.PipeWriter
	out      *json.Decoder
	id       int64
	ended    chan error
	stats    gocache.Stats
	mu       sync.Mutex
	warnings []string
}

// start starts a go command with a cache.
func start(t *testing.T, o gocache.Options) *build {
	t.Helper()
	b := &build{T: t, ended: make(chan error, 1)}
	if o.Client == nil {
		o.Client = files.NewClient(files.ClientOptions{})
	}
	o.LocalMax = max(o.LocalMax, 1<<20)
	o.Warn = func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.warnings = append(b.warnings, err.Error())
	}
	in, w := io.Pipe()
	r, out := io.Pipe()
	b.in, b.out = w, json.NewDecoder(r)
	go func() {
		var err error
		b.stats, err = gocache.Run(t.Context(), o, in, out)
		_ = in.Close()
		_ = out.Close()
		b.ended <- err
	}()
	if first := b.answer(); first.ID != 0 || strings.Join(first.KnownCommands, " ") != "get put close" {
		t.Fatalf("%+v", first)
	}
	return b
}

func (b *build) answer() (a answer) {
	b.Helper()
	if err := b.out.Decode(&a); err != nil {
		b.Fatal(err)
	}
	return a
}

// ask sends a request as the go command does.
func (b *build) ask(command, action, body string) answer {
	b.Helper()
	b.id++
	id, sum := sha256.Sum256([]byte(action)), sha256.Sum256([]byte(body))
	request := map[string]any{"ID": b.id, "Command": command, "ActionID": id[:]}
	text := ""
	if command == "put" {
		request["OutputID"], request["BodySize"] = sum[:], len(body)
		if len(body) > 0 {
			text = `"` + base64.StdEncoding.EncodeToString([]byte(body)) + "\"\n"
		}
	}
	line, err := json.Marshal(request)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(b.in, string(line)+"\n\n"+text); err != nil {
		b.Fatal(err)
	}
	got := b.answer()
	if got.ID != b.id || got.Err != "" {
		b.Fatalf("%s %s: %+v", command, action, got)
	}
	return got
}

func (b *build) put(action, body string) {
	b.Helper()
	b.expect(b.ask("put", action, body), body)
}

// hits requires that an action is known and has this output.
func (b *build) hits(action, body string) {
	b.Helper()
	got := b.ask("get", action, "")
	if sum := sha256.Sum256([]byte(body)); !bytes.Equal(got.OutputID, sum[:]) || got.Size != int64(len(body)) || got.Time == nil {
		b.Errorf("get %s: %+v", action, got)
	}
	b.expect(got, body)
}

// expect requires a file with this content where the answer says.
func (b *build) expect(a answer, body string) {
	b.Helper()
	content, err := os.ReadFile(a.DiskPath)
	if err != nil || string(content) != body || !filepath.IsAbs(a.DiskPath) {
		b.Errorf("%+v: %d bytes, %v", a, len(content), err)
	}
}

func (b *build) misses(action string) {
	b.Helper()
	if got := b.ask("get", action, ""); !got.Miss {
		b.Errorf("get %s: %+v", action, got)
	}
}

// close ends the build. It requires these numbers of warnings and counts.
func (b *build) close(warnings int, want gocache.Stats) {
	b.Helper()
	b.ask("close", "", "")
	if err := <-b.ended; err != nil {
		b.Error(err)
	}
	if b.stats != want || len(b.warnings) != warnings {
		b.Errorf("%+v, not %+v; warnings: %q", b.stats, want, b.warnings)
	}
}

// serve starts a server, and returns its store and the address of a cache.
func serve(t *testing.T) (*fileio.Store, string) {
	t.Helper()
	store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := httptest.NewServer(files.NewServer(store, files.Options{}))
	t.Cleanup(server.Close)
	return store, server.URL + "/files/go"
}

// Another machine has the outputs of the first one from the server. It keeps them.
func TestShared(t *testing.T) {
	_, url := serve(t)
	large := strings.Repeat("large ", 100_000)
	b := start(t, gocache.Options{URL: url, Dir: t.TempDir()})
	b.misses("one")
	b.put("one", "output")
	b.put("two", "output")
	b.put("none", "")
	b.put("large", large)
	b.hits("one", "output")
	b.close(0, gocache.Stats{Local: 1, Misses: 1, Sent: 4})

	here := t.TempDir()
	b = start(t, gocache.Options{URL: url, Dir: here})
	b.hits("large", large)
	b.hits("one", "output")
	b.hits("none", "")
	b.hits("one", "output")
	b.close(0, gocache.Stats{Local: 1, Remote: 3})

	b = start(t, gocache.Options{URL: "http://127.0.0.1:1/files/go", Dir: here})
	b.hits("large", large)
	b.hits("one", "output")
	b.close(0, gocache.Stats{Local: 2})
}

// A server that is not there, does not answer, or answers nonsense, costs one warning.
func TestBadServers(t *testing.T) {
	hangs := make(chan struct{})
	defer close(hangs)
	handler := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.CloseClientConnections)
		return s.URL
	}
	dead := httptest.NewServer(nil)
	dead.Close()
	for name, url := range map[string]string{
		"dead":  dead.URL,
		"hangs": handler(func(_ http.ResponseWriter, r *http.Request) { <-hangs }),
		"hangs in the body": handler(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			_ = http.NewResponseController(w).Flush()
			<-hangs
		}),
		"refuses": handler(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "a token is wanted", http.StatusUnauthorized)
		}),
		"broken": handler(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, gocache.Options{URL: url + "/files/go", Dir: t.TempDir(), Timeout: 50 * time.Millisecond})
			b.misses("one")
			b.put("one", "output")
			b.hits("one", "output")
			b.misses("two")
			b.close(1, gocache.Stats{Local: 1, Misses: 2, Unsent: 1})
		})
	}
}

// With a token that only reads, a build has the hits of the server, and sends nothing.
func TestReadToken(t *testing.T) {
	store, all := serve(t)
	s := httptest.NewServer(files.NewServer(store, files.Options{Tokens: []string{"writes"}, ReadTokens: []string{"reads"}}))
	defer s.Close()
	b := start(t, gocache.Options{URL: all, Dir: t.TempDir()})
	b.put("one", "output")
	b.close(0, gocache.Stats{Sent: 1})

	o := gocache.Options{URL: s.URL + "/files/go", Dir: t.TempDir(), Client: files.NewClient(files.ClientOptions{Token: "reads"})}
	b = start(t, o)
	b.put("two", "output of two")
	b.hits("one", "output")
	b.close(0, gocache.Stats{Remote: 1, Unsent: 1})
}

func name(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Nothing at the server is believed before it is checked, and a wrong file is replaced.
func TestHostileContent(t *testing.T) {
	store, url := serve(t)
	write := func(name, text string) {
		if _, err := store.Put(context.Background(), "go/"+name, strings.NewReader(text), int64(len(text)), nil); err != nil {
			t.Fatal(err)
		}
	}
	b := start(t, gocache.Options{URL: url, Dir: t.TempDir()})
	for i, record := range []string{
		"", "v1", "nonsense", strings.Repeat("x", 1<<20),
		"v1 " + name("output") + " -1 0\n",
		"v1 ../../../etc/passwd 6 0\n",
		"v1 " + name("output")[:60] + " 6 0\n",
		"v1 " + name("output") + " 6 0 more\n",
		"v1 " + name("never sent") + " 6 0\n",
	} {
		action := fmt.Sprint("action", i)
		write("a/"+name(action), record)
		b.misses(action)
	}
	write("a/"+name("one"), "v1 "+name("output")+" 6 0\n")
	for _, content := range []string{"OUTPUT", "output and more", "outp", strings.Repeat("y", 1<<20)} {
		write("o/"+name("output"), content)
		b.misses("one")
	}
	b.put("one", "output")
	b.close(1, gocache.Stats{Misses: 13, Sent: 1})
	b = start(t, gocache.Options{URL: url, Dir: t.TempDir()})
	b.hits("one", "output")
	b.close(0, gocache.Stats{Remote: 1})
}

// A file that the local disk does not take costs a hit. The server is not to blame, and stays in use.
func TestBrokenLocalDisk(t *testing.T) {
	_, url := serve(t)
	b := start(t, gocache.Options{URL: url, Dir: t.TempDir()})
	b.put("one", "output")
	b.put("two", "output of two")
	b.close(0, gocache.Stats{Sent: 2})

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name("output")[:2]), nil, 0o600); err != nil { // no folder can be here
		t.Fatal(err)
	}
	b = start(t, gocache.Options{URL: url, Dir: dir})
	b.misses("one")
	b.hits("two", "output of two")
	b.close(0, gocache.Stats{Remote: 1, Misses: 1})
}

// An output is not kept in memory.
func TestLargeOutput(t *testing.T) {
	_, url := serve(t)
	b := start(t, gocache.Options{URL: url, Dir: t.TempDir(), LocalMax: 1 << 30})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const size = 30 << 20
	id := base64.StdEncoding.EncodeToString(make([]byte, sha256.Size)) // it is not the digest of the body
	_, err := fmt.Fprintf(b.in, `{"ID":1,"Command":"put","ActionID":%q,"OutputID":%q,"BodySize":%d}`+"\n\n\"", id, id, size)
	piece := []byte(strings.Repeat("A", 4<<10))
	for range size / 3 * 4 / len(piece) {
		_, e := b.in.Write(piece)
		err = errors.Join(err, e)
	}
	_, e := io.WriteString(b.in, "\"\n")
	if got := b.answer(); errors.Join(err, e) != nil || !strings.Contains(got.Err, "announced SHA-256") {
		t.Fatal(err, e, got)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > size/4 {
		t.Errorf("it took %d bytes of memory", n)
	}
	b.id++
	b.close(0, gocache.Stats{})
}

// A record that promises more than the local folder holds brings nothing onto the disk.
func TestHugeRecord(t *testing.T) {
	for _, size := range []int64{1<<20 + 1, 1 << 62} {
		var asked atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/o/") {
				asked.Add(1)
				return
			}
			fmt.Fprintf(w, "v1 %s %d 0\n", name("output"), size)
		}))
		b := start(t, gocache.Options{URL: s.URL + "/files/go", Dir: t.TempDir()})
		b.misses("one")
		b.close(0, gocache.Stats{Misses: 1})
		if n := asked.Load(); n > 0 {
			t.Errorf("%d bytes: asked for the output %d times", size, n)
		}
		s.Close()
	}
}

// A go command that is killed while the server sends leaves nothing that runs for long.
func TestKilledGoCommand(t *testing.T) {
	asked, hangs := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/a/") {
			fmt.Fprintf(w, "v1 %s %d 0\n", name("output"), int64(1)<<40)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<40))
		_ = http.NewResponseController(w).Flush()
		close(asked)
		<-hangs
	}))
	defer s.CloseClientConnections()
	defer close(hangs)
	b := start(t, gocache.Options{URL: s.URL + "/files/go", Dir: t.TempDir(), LocalMax: 1 << 50, Timeout: 500 * time.Millisecond})
	id := base64.StdEncoding.EncodeToString(make([]byte, 32))
	if _, err := fmt.Fprintf(b.in, "{\"ID\":1,\"Command\":\"get\",\"ActionID\":%q}\n", id); err != nil {
		t.Fatal(err)
	}
	<-asked
	_ = b.in.Close()
	_ = b.answer()
	if err := <-b.ended; err != nil || len(b.warnings) > 0 { // a stalled server would be warned of after minutes
		t.Errorf("%v, warnings: %q", err, b.warnings)
	}
}

// A file that was cut off is not found.
func TestCutLocalFile(t *testing.T) {
	_, url := serve(t)
	dir := t.TempDir()
	b := start(t, gocache.Options{URL: url, Dir: dir})
	b.put("one", "output")
	path := b.ask("get", "one", "").DiskPath
	b.close(0, gocache.Stats{Local: 1, Sent: 1})
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	b = start(t, gocache.Options{URL: url, Dir: dir})
	b.hits("one", "output")
	b.close(0, gocache.Stats{Remote: 1})
}

// The local folder is bounded: after a build the files that were not used for longest go, but not
// while another go command runs.
func TestLocalMax(t *testing.T) {
	_, url := serve(t)
	dir := t.TempDir()
	o := gocache.Options{URL: url, Dir: dir, LocalMax: 1 << 20}
	other, b := start(t, o), start(t, o)
	body := func(i int) string { return strings.Repeat(string(rune('a'+i)), 200_000) }
	for i := range 10 {
		b.put(fmt.Sprint(i), body(i))
	}
	old := time.Now().Add(-48 * time.Hour)
	for i := range 9 { // all but the last one were not used for long
		if err := os.Chtimes(b.ask("get", fmt.Sprint(i), "").DiskPath, old, old.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	b.hits("0", body(0)) // used now
	b.close(0, gocache.Stats{Local: 10, Sent: 10})
	if n := size(t, dir); n < 2_000_000 {
		t.Errorf("%d bytes are left while another go command runs", n)
	}
	other.close(0, gocache.Stats{}) // the last one trims for the others
	if n := size(t, dir); n > 1<<20 || n < 600_000 {
		t.Errorf("%d bytes are left", n)
	}
	o.URL = "http://127.0.0.1:1/files/go"
	b = start(t, o)
	for _, i := range []int{0, 9} {
		b.hits(fmt.Sprint(i), body(i))
	}
	b.ask("close", "", "")
	<-b.ended
}

func size(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if d.Type().IsRegular() && err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// Input that no go command writes ends the cache. A go command that ends without a word does too.
func TestProtocol(t *testing.T) {
	get := `{"ID":1,"Command":"get","ActionID":"` + base64.StdEncoding.EncodeToString(make([]byte, 32)) + `"}` + "\n"
	put := strings.Replace(get, `"get"`, `"put","BodySize":3,"OutputID":"`+base64.StdEncoding.EncodeToString(make([]byte, 32))+`"`, 1)
	for in, bad := range map[string]bool{
		"":                              false,
		get:                             false,
		"hello\n":                       true,
		strings.Repeat("x", 1<<20):      true,
		`{"ID":1`:                       true,
		put + "\nabcd\n":                true,
		put + "\n\"abcd":                true,
		put + "\n\"abcdefgh\"\n":        true,
		put + "\n\"!!!!\"\n" + get:      false, // not base64: this put fails
		put + "\n\"abcd\"\n" + get:      false, // not this digest
		`{"ID":1,"Command":"sing"}`:     false,
		`{"ID":1,"Command":"x"}` + "\n": false,
		`{"ID":1,"Command":"put","BodySize":-1}` + "\n": true,
	} {
		var out bytes.Buffer
		o := gocache.Options{URL: "http://127.0.0.1:1/files/go", Client: files.NewClient(files.ClientOptions{}), Dir: t.TempDir(), LocalMax: 1, Timeout: time.Millisecond, Warn: func(error) {}}
		_, err := gocache.Run(t.Context(), o, bufio.NewReader(strings.NewReader(in)), &out)
		if errors.Is(err, gocache.ErrProtocol) != bad || !bad && err != nil {
			t.Errorf("%.60q: %v", in, err)
		}
		if strings.Contains(in, "abcd\"\n"+get) && !strings.Contains(out.String(), "announced SHA-256") {
			t.Errorf("%.200q: %s", in, out.String())
		}
	}
}
