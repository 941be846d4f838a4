package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/regress"
	"muster/regress/internal/mirror"
	"muster/test/kits/enginetest"
)

// server is a file server that counts its answers.
type server struct {
	*testing.T
	url  string
	sent atomic.Int32 // files
}

func serve(t *testing.T) *server {
	s := &server{T: t}
	store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	handler := files.NewServer(store, files.Options{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w = &counting{w, &s.sent, http.StatusOK}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

// counting counts the answers that send a file.
type counting struct {
	http.ResponseWriter
	sent   *atomic.Int32
	status int
}

func (c *counting) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counting) Write(p []byte) (int, error) {
	if c.status == http.StatusOK {
		c.sent.Add(1)
	}
	return c.ResponseWriter.Write(p)
}

func (s *server) at(folder, name string) *mirror.Place {
	s.Helper()
	p, err := mirror.New(s.url+"/files/"+name, folder, files.ClientOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// replace replaces the seen content by data.
func (s *server) replace(p *mirror.Place, data string, seen *mirror.Copy) error {
	s.Helper()
	path := filepath.Join(s.TempDir(), "new")
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		s.Fatal(err)
	}
	return p.Replace(s.Context(), path, seen)
}

// fetch fails unless the address has data.
func (s *server) fetch(p *mirror.Place, data string) *mirror.Copy {
	s.Helper()
	c, err := p.Fetch(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if is, err := os.ReadFile(c.Path); string(is) != data || err != nil {
		s.Errorf("a copy has %.30q, %v; want %.30q", is, err, data)
	}
	return c
}

// copies returns the files that are copies.
func copies(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*.copy")
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestFetch(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	p := s.at(folder, "x")
	if _, err := p.Fetch(t.Context()); !errors.Is(err, fs.ErrNotExist) || regress.ClassOf(err) != regress.Input {
		t.Errorf("of nothing: %v", err)
	}
	if err := s.replace(p, "first", nil); err != nil {
		t.Fatal(err)
	}
	// After Replace the sent file is the copy; other places have copies of their own.
	c := s.fetch(p, "first")
	c.Close()
	if s.sent.Load() != 0 || c.Fresh {
		t.Errorf("%d files were sent", s.sent.Load())
	}
	theirs := s.at(t.TempDir(), "x")
	for range 3 {
		s.fetch(theirs, "first").Close()
	}
	if s.sent.Load() != 1 {
		t.Errorf("%d files were sent, not 1", s.sent.Load())
	}
	// Changes of others are fetched, and the old copy is removed.
	if err := s.replace(theirs, "second", c); err != nil {
		t.Fatal(err)
	}
	s.fetch(p, "second").Close()
	if paths := copies(t, folder); len(paths) != 1 || s.sent.Load() != 2 {
		t.Errorf("%q, %d files were sent", paths, s.sent.Load())
	}
	// A copy that somebody wrote to is not used.
	if err := os.WriteFile(copies(t, folder)[0], []byte("SECOND"), 0o644); err != nil {
		t.Fatal(err)
	}
	c = s.fetch(p, "second")
	c.Drop()
	s.fetch(p, "second").Close()
	if s.sent.Load() != 4 {
		t.Errorf("%d files were sent, not 4", s.sent.Load())
	}
}

// A copy stays while somebody reads it.
func TestUsedCopyStays(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	p := s.at(folder, "x")
	if err := s.replace(p, "first", nil); err != nil {
		t.Fatal(err)
	}
	used := s.fetch(p, "first")
	if err := s.replace(s.at(t.TempDir(), "x"), "second", used); err != nil {
		t.Fatal(err)
	}
	s.fetch(p, "second").Close()
	if is, err := os.ReadFile(used.Path); string(is) != "first" {
		t.Errorf("%q, %v", is, err)
	}
	used.Close()
	c := s.fetch(p, "second")
	if err := s.replace(p, "third", c); err != nil {
		t.Fatal(err)
	}
	if paths := copies(t, folder); len(paths) != 2 { // the second is in use, the first not any more
		t.Errorf("%q", paths)
	}
	c.Close()
}

// Of many places only the most recently used copies stay. Files of dead writers are removed.
func TestCopiesAreFew(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	dead := folder + "/remote-0123456789abcdef-1.copy"
	for _, path := range []string{dead, folder + "/corpus-0.tar"} {
		if err := os.WriteFile(path, []byte("part"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		p := s.at(folder, fmt.Sprint(i))
		if err := s.replace(p, fmt.Sprint("content ", i), nil); err != nil {
			t.Fatal(err)
		}
		s.fetch(p, fmt.Sprint("content ", i)).Close()
	}
	for i := 8; i >= 5; i-- {
		s.fetch(s.at(folder, fmt.Sprint(i)), fmt.Sprint("content ", i)).Close()
	}
	if s.sent.Load() != 0 || len(copies(t, folder)) != 4 {
		t.Errorf("%q, %d files were sent", copies(t, folder), s.sent.Load())
	}
	if _, err := os.Stat(folder + "/corpus-0.tar"); err != nil {
		t.Error(err)
	}
	if notes, err := filepath.Glob(folder + "/*.json"); len(notes) != 4 || err != nil {
		t.Errorf("%q, %v", notes, err)
	}
}

// Of all that saw the same content, only one replaces it.
func TestReplaceAtOnce(t *testing.T) {
	s := serve(t)
	const people = 8
	var begun, ended sync.WaitGroup
	for round := range 5 {
		var won atomic.Int32
		var winner atomic.Int32
		begun.Add(people)
		for i := range people {
			folder, path := t.TempDir(), filepath.Join(t.TempDir(), "new")
			if err := os.WriteFile(path, fmt.Append(nil, i), 0o644); err != nil {
				t.Fatal(err)
			}
			ended.Go(func() {
				p := s.at(folder, "x")
				seen, err := p.Fetch(t.Context())
				if round == 0 && errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				begun.Done()
				begun.Wait()
				if err == nil {
					err = p.Replace(t.Context(), path, seen)
				}
				if seen != nil {
					seen.Close()
				}
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(int32(i))
				case !errors.Is(err, mirror.ErrChanged):
					t.Error(err)
				}
			})
		}
		ended.Wait()
		if won.Load() != 1 {
			t.Fatalf("round %d: %d replaced what all had seen", round, won.Load())
		}
		s.fetch(s.at(t.TempDir(), "x"), fmt.Sprint(winner.Load())).Close()
	}
}

// A connection that breaks before the answer leaves the result open. Replace then checks the
// address.
func TestAnswerLost(t *testing.T) {
	for name, done := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
			handler := files.NewServer(store, files.Options{})
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPut {
					handler.ServeHTTP(w, r)
					return
				}
				if done {
					handler.ServeHTTP(httptest.NewRecorder(), r)
				}
				panic(http.ErrAbortHandler)
			}))
			t.Cleanup(web.Close)
			s := &server{T: t, url: web.URL}
			p := s.at(t.TempDir(), "x")
			err := s.replace(p, "mine", nil)
			if !done {
				if regress.ClassOf(err) != regress.Environment {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s.fetch(p, "mine").Close()
		})
	}
}

// Several processes share the folder.
func TestFetchAtOnce(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	data := strings.Repeat("much ", 100_000)
	if err := s.replace(s.at(t.TempDir(), "x"), data, nil); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c, err := s.at(folder, "x").Fetch(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if is, err := os.ReadFile(c.Path); string(is) != data || err != nil {
				t.Errorf("%d bytes, %v", len(is), err)
			}
		})
	}
	all.Wait()
	s.fetch(s.at(folder, "x"), data).Close()
}

// Each failure of a fetch has a class and a mend.
func TestWhoseMove(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		class  regress.Class
		said   string
	}{
		"token":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }, regress.Input, "401 Unauthorized: no: set MUSTER_TOKEN to the server's token"},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }, regress.Input, "403 Forbidden"},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://files.example/files/x", http.StatusMovedPermanently)
		},
			regress.Input, "301 Moved Permanently: it has moved to https://files.example/files/x"},
		"broken": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", http.StatusInternalServerError) }, regress.Environment, "500 Internal Server Error: oops"},
		"large":  {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "17179869185") }, regress.Input, "is larger than 16 GiB"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write(make([]byte, 999))
		}, regress.Environment, "after 999 bytes: unexpected EOF"},
		"wrong": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Repr-Digest", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:")
			w.Write([]byte("not hello"))
		}, regress.Environment, "the body does not have the announced SHA-256"},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(c.answer)
			defer web.Close()
			folder := t.TempDir()
			p, err := mirror.New(web.URL+"/files/x", folder, files.ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Fetch(t.Context())
			if regress.ClassOf(err) != c.class || !strings.Contains(fmt.Sprint(err), c.said) || !strings.Contains(fmt.Sprint(err), web.URL+"/files/x") {
				t.Errorf("class %v: %v", regress.ClassOf(err), err)
			}
			if left := copies(t, folder); len(left) > 0 {
				t.Errorf("%q stay", left)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.at(t.TempDir(), "x").Fetch(ctx); regress.ClassOf(err) != regress.Interrupted {
		t.Error(err)
	}
}

// Without tags, or with weak ones, one could overwrite the changes of another.
func TestNoTags(t *testing.T) {
	for _, tag := range []string{"", `W/"1"`} {
		t.Run(tag, func(t *testing.T) { checkNoTag(t, tag) })
	}
}

func checkNoTag(t *testing.T, tag string) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Error(r.Method)
		}
		if tag != "" {
			w.Header().Set("ETag", tag)
		}
		w.Write([]byte("content"))
	}))
	defer web.Close()
	p, err := mirror.New(web.URL+"/files/x", t.TempDir(), files.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c, err := p.Fetch(t.Context())
		if err != nil || !c.Fresh {
			t.Fatal(err)
		}
		if err := p.Replace(t.Context(), c.Path, c); regress.ClassOf(err) != regress.Input || !strings.Contains(fmt.Sprint(err), "ETag") {
			t.Error(err)
		}
		c.Close()
	}
}

func TestTokenThatCannotBeSent(t *testing.T) {
	for _, token := range []string{"secret\n", "two words", "gr\u00fcn"} {
		_, err := mirror.New("https://h/files/x", t.TempDir(), files.ClientOptions{Token: token})
		if regress.ClassOf(err) != regress.Input || !strings.Contains(fmt.Sprint(err), "MUSTER_TOKEN") || strings.Contains(fmt.Sprint(err), token) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for name, is := range map[string]bool{
		"http://h/files/x": true, "HTTPS://h/x": true, "muster.golden": false, "http:x": false, "ftp://h/x": false, "dir/http://x": false,
	} {
		if mirror.IsAddress(name) != is {
			t.Errorf("%s: %t", name, !is)
		}
	}
	for _, address := range []string{
		"http://", "http:///files/x", "http://h", "http://h/", "http://h/files/", "http://h/files/x?y=z", "http://h/files/x#y",
		"http://u:p@h/files/x", "http://h/%zz", "http://h:port/files/x",
	} {
		if _, err := mirror.New(address, t.TempDir(), files.ClientOptions{}); regress.ClassOf(err) != regress.Input || strings.Contains(fmt.Sprint(err), "u:p@") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
