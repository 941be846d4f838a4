package place

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/regress"
	"muster/regress/internal/state"
	"muster/test/kits/enginetest"
)

// fileServer is a file server that counts its answers.
type fileServer struct {
	*testing.T
	url  string
	sent atomic.Int32 // files
}

func serve(t *testing.T) *fileServer {
	s := &fileServer{T: t}
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

// at returns the place of a name. Its copies are in a folder.
func (s *fileServer) at(folder, name string) *address {
	s.Helper()
	a, err := newAddress(s.url+"/files/"+name, NewOptions(folder, files.ClientOptions{}))
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// replace replaces the content that the place has fetched by data.
func (s *fileServer) replace(a *address, data string) error {
	s.Helper()
	path := filepath.Join(a.state.Cache(), "new")
	err := os.MkdirAll(a.state.Cache(), 0o755)
	if err = errors.Join(err, os.WriteFile(path, []byte(data), 0o644)); err != nil {
		s.Fatal(err)
	}
	return a.replace(s.Context(), path)
}

// fetch fails unless the address has data.
func (s *fileServer) fetch(a *address, data string) {
	s.Helper()
	if err := a.fetch(s.Context()); err != nil {
		s.Fatal(err)
	}
	if is, err := os.ReadFile(a.copy.path); string(is) != data || err != nil {
		s.Errorf("a copy has %.30q, %v; want %.30q", is, err, data)
	}
}

// listCopies returns the files that are copies.
func listCopies(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(state.Open(folder).Cache() + "/remote-*" + whole)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestFetch(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	a := s.at(folder, "x")
	if err := a.fetch(t.Context()); err != nil || a.copy != nil {
		t.Errorf("of nothing: %v, %v", a.copy, err)
	}
	if err := s.replace(a, "first"); err != nil {
		t.Fatal(err)
	}
	// After a replacement the sent file is the copy; other places have copies of their own.
	s.fetch(a, "first")
	a.Close()
	if s.sent.Load() != 0 || a.copy.fresh {
		t.Errorf("%d files were sent", s.sent.Load())
	}
	theirs := s.at(t.TempDir(), "x")
	for range 3 {
		s.fetch(theirs, "first")
		theirs.Close()
	}
	if s.sent.Load() != 1 {
		t.Errorf("%d files were sent, not 1", s.sent.Load())
	}
	// Changes of others are fetched, and the old copy is removed.
	if err := s.replace(theirs, "second"); err != nil {
		t.Fatal(err)
	}
	s.fetch(a, "second")
	a.Close()
	if paths := listCopies(t, folder); len(paths) != 1 || s.sent.Load() != 2 {
		t.Errorf("%q, %d files were sent", paths, s.sent.Load())
	}
}

// A copy stays while somebody reads it.
func TestUsedCopyStays(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	used, theirs := s.at(folder, "x"), s.at(t.TempDir(), "x")
	if err := s.replace(used, "first"); err != nil {
		t.Fatal(err)
	}
	s.fetch(used, "first")
	s.fetch(theirs, "first")
	if err := s.replace(theirs, "second"); err != nil {
		t.Fatal(err)
	}
	a := s.at(folder, "x")
	s.fetch(a, "second")
	if is, err := os.ReadFile(used.copy.path); string(is) != "first" {
		t.Errorf("%q, %v", is, err)
	}
	used.Close()
	if err := s.replace(a, "third"); err != nil {
		t.Fatal(err)
	}
	if paths := listCopies(t, folder); len(paths) != 2 { // the second is in use, the first not any more
		t.Errorf("%q", paths)
	}
	a.Close()
}

// A copy that was written to is fetched again, so that no accept publishes the damage.
func TestDamagedCopy(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	a := s.at(folder, "x")
	if err := s.replace(a, "whole"); err != nil {
		t.Fatal(err)
	}
	s.fetch(a, "whole")
	a.Close()
	if err := os.WriteFile(a.copy.path, []byte("spoil"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.fetch(a, "whole")
	a.Close()
}

// Versions before tags in names called copies remote-KEY-DECIMAL.copy.
func TestOldCopy(t *testing.T) {
	s := serve(t)
	a := s.at(t.TempDir(), "x")
	old := filepath.Join(a.state.Cache(), "remote-"+a.copies.key+"-0123456789.copy")
	err := errors.Join(os.MkdirAll(a.state.Cache(), 0o755), os.WriteFile(old, []byte("old"), 0o600), os.Chtimes(old, time.Now(), time.Unix(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.replace(s.at(t.TempDir(), "x"), "new"); err != nil {
		t.Fatal(err)
	}
	s.fetch(a, "new")
	a.Close()
	if _, err := os.Stat(old); err == nil {
		t.Error("it stays")
	}
}

// Of many places only the most recently used copies stay. Files of dead writers are removed.
func TestCopiesAreFew(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	cache := state.Open(folder).Cache()
	old := time.Now().Add(-2 * deadAfter)
	for _, name := range []string{"remote-0123456789abcdef-1.part", "remote-0123456789abcdef-2.part", "remote-0123456789abcdef-3.copy", "corpus-0.tar"} {
		path := filepath.Join(cache, name)
		err := errors.Join(os.MkdirAll(cache, 0o755), os.WriteFile(path, []byte("part"), 0o600))
		if !strings.Contains(name, "-2") {
			err = errors.Join(err, os.Chtimes(path, old, old))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	use := func(i int) string {
		a := s.at(folder, fmt.Sprint(i))
		s.fetch(a, fmt.Sprint("content ", i))
		a.Close()
		return a.copy.path
	}
	put := func(i int) {
		if err := s.replace(s.at(folder, fmt.Sprint(i)), fmt.Sprint("content ", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		put(i)
		used := old.Truncate(time.Second).Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(use(i), used, used); err != nil {
			t.Fatal(err)
		}
	}
	use(5)
	put(9)
	for _, i := range []int{5, 7, 8, 9} {
		use(i)
	}
	if s.sent.Load() != 0 || len(listCopies(t, folder)) != copiesMax {
		t.Errorf("%q, %d files were sent", listCopies(t, folder), s.sent.Load())
	}
	for name, stays := range map[string]bool{"remote-0123456789abcdef-1.part": false, "remote-0123456789abcdef-2.part": true, "remote-0123456789abcdef-3.copy": false, "corpus-0.tar": true} {
		if _, err := os.Stat(filepath.Join(cache, name)); (err == nil) != stays {
			t.Error(name, err)
		}
	}
}

// Of all that saw the same content, only one replaces it.
func TestReplaceAtOnce(t *testing.T) {
	s := serve(t)
	const people = 8
	var begun, ended sync.WaitGroup
	for range 5 {
		var won atomic.Int32
		var winner atomic.Int32
		begun.Add(people)
		for i := range people {
			a := s.at(t.TempDir(), "x")
			ended.Go(func() {
				err := a.fetch(t.Context())
				defer a.Close()
				begun.Done()
				begun.Wait()
				if err == nil {
					err = s.replace(a, fmt.Sprint(i))
				}
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(int32(i))
				case !errors.Is(err, errChanged):
					t.Error(err)
				}
			})
		}
		ended.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d replaced what all had seen", won.Load())
		}
		a := s.at(t.TempDir(), "x")
		s.fetch(a, fmt.Sprint(winner.Load()))
		a.Close()
	}
}

// Several processes share the folder.
func TestFetchAtOnce(t *testing.T) {
	s, folder := serve(t), t.TempDir()
	data := strings.Repeat("much ", 100_000)
	if err := s.replace(s.at(t.TempDir(), "x"), data); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			a := s.at(folder, "x")
			if err := a.fetch(t.Context()); err != nil {
				t.Error(err)
				return
			}
			defer a.Close()
			if is, err := os.ReadFile(a.copy.path); string(is) != data || err != nil {
				t.Errorf("%d bytes, %v", len(is), err)
			}
		})
	}
	all.Wait()
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
			_, err := Find(t.Context(), web.URL+"/files/x", NewOptions(folder, files.ClientOptions{}))
			if regress.ClassOf(err) != c.class || !strings.Contains(fmt.Sprint(err), c.said) || !strings.Contains(fmt.Sprint(err), web.URL+"/files/x") {
				t.Errorf("class %v: %v", regress.ClassOf(err), err)
			}
			if left, _ := os.ReadDir(state.Open(folder).Cache()); len(left) > 0 {
				t.Errorf("%q stay", left)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.at(t.TempDir(), "x").fetch(ctx); regress.ClassOf(err) != regress.Interrupted {
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
	a, err := newAddress(web.URL+"/files/x", NewOptions(t.TempDir(), files.ClientOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.fetch(t.Context()); err != nil || !a.copy.fresh {
			t.Fatal(err)
		}
		if err := a.replace(t.Context(), a.copy.path); regress.ClassOf(err) != regress.Input || !strings.Contains(fmt.Sprint(err), "ETag") {
			t.Error(err)
		}
		a.Close()
		if _, err := os.Stat(a.copy.path); tag == "" && err == nil {
			t.Errorf("%s stays", a.copy.path)
		}
	}
}

func TestTokenThatCannotBeSent(t *testing.T) {
	for _, token := range []string{"secret\n", "two words", "gr\u00fcn"} {
		_, err := newAddress("https://h/files/x", NewOptions(t.TempDir(), files.ClientOptions{Token: token}))
		if regress.ClassOf(err) != regress.Input || !strings.Contains(fmt.Sprint(err), "MUSTER_TOKEN") || strings.Contains(fmt.Sprint(err), token) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for name, is := range map[string]bool{
		"http://h/files/x": true, "HTTPS://h/x": true, "muster.golden": false, "http:x": false, "ftp://h/x": false, "dir/http://x": false,
	} {
		if IsAddress(name) != is {
			t.Errorf("%s: %t", name, !is)
		}
	}
	for _, address := range []string{
		"http://", "http:///files/x", "http://h", "http://h/", "http://h/files/", "http://h/files/x?y=z", "http://h/files/x#y",
		"http://u:p@h/files/x", "http://h/%zz", "http://h:port/files/x",
	} {
		if _, err := newAddress(address, NewOptions(t.TempDir(), files.ClientOptions{})); regress.ClassOf(err) != regress.Input || strings.Contains(fmt.Sprint(err), "u:p@") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
