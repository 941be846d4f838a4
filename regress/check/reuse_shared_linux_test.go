package check_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/regress"
	"muster/test/kits/enginetest"
)

// cacheServer is a file server whose answers a test may spoil.
type cacheServer struct {
	http.Handler
	requests atomic.Int64
	spoil    func(w http.ResponseWriter, number int64) http.ResponseWriter // nil = the request is cut off
}

func (c *cacheServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if w = c.spoil(w, c.requests.Add(1)); w == nil {
		panic(http.ErrAbortHandler)
	}
	c.Handler.ServeHTTP(w, r)
}

// spoiledBytes are answers in which each byte may be another one.
type spoiledBytes struct {
	http.ResponseWriter
	r *rand.Rand
}

func (s *spoiledBytes) Write(b []byte) (int, error) {
	b = append([]byte(nil), b...)
	b[s.r.IntN(len(b))] ^= 1 << s.r.IntN(8)
	return s.ResponseWriter.Write(b)
}

func (s *spoiledBytes) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Flush is for gRPC.
func (s *spoiledBytes) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

func startCache(t *testing.T) (c *cacheServer, url string) {
	t.Helper()
	store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	c = &cacheServer{Handler: files.NewServer(store, files.Options{}), spoil: func(w http.ResponseWriter, _ int64) http.ResponseWriter { return w }}
	server := httptest.NewUnstartedServer(c)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return c, server.URL
}

// sharing returns options for a check with --remote-cache, on a machine with its own state folder.
func (m *machine) sharing(url, state string) regress.Options {
	o := m.options()
	o.Store.RemoteCache, o.Store.State = url, m.at(state)
	return o
}

// Whatever changes between checks on several machines, a check with --remote-cache gives the verdicts of a full
// check, if all that the tool depends on can be observed.
func TestCacheGivesTheVerdictsOfAFullCheck(t *testing.T) {
	reused, differ := 0, 0
	for seed := range seeds(3) {
		_, url := startCache(t)
		m := newMachine(t, modelCases)
		r := rand.New(rand.NewPCG(seed, 8))
		var changes []string
		for range 8 {
			changes = append(changes, m.change(r))
			full := m.options()
			full.Store.State = m.at("full")
			want, sum := m.verdicts(full)
			differ += sum.Verdicts.NotIdentical()
			for _, state := range []string{"one", "two"} {
				got, sum := m.verdicts(m.sharing(url, state))
				if !maps.Equal(got, want) || sum.NotReused != "" {
					t.Fatalf("seed %d, after changes of %q: with a cache %v, without %v; %q ended reuse", seed, changes, got, want, sum.NotReused)
				}
				reused += sum.Reused
			}
		}
	}
	if reused == 0 || differ == 0 {
		t.Errorf("%d cases were reused, and %d differed: the test proves nothing", reused, differ)
	}
}

// A cache that is cut off at any request, or whose answers are damaged, changes no verdict and fails no check.
func TestCacheThatFails(t *testing.T) {
	c, url := startCache(t)
	m := newMachine(t, modelCases)
	for i := range 10 {
		m.write(fmt.Sprint("src/c", i), "changed")
	}
	want, _ := m.verdicts(m.options())
	m.verdicts(m.sharing(url, "first"))
	c.requests.Store(0)
	m.verdicts(m.sharing(url, "first"))
	most := c.requests.Load()
	if _, sum := m.verdicts(m.sharing(url, "first")); sum.Reused == 0 || most < 4 {
		t.Fatalf("%d cases are reused, with %d requests", sum.Reused, most)
	}
	check := func(what string) {
		t.Helper()
		c.requests.Store(0)
		if got, _ := m.verdicts(m.sharing(url, "first")); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for last := range most {
		if testing.Short() && last%3 != 0 {
			continue // each waits for the cache
		}
		c.spoil = func(w http.ResponseWriter, number int64) http.ResponseWriter {
			if number > last {
				return nil
			}
			return w
		}
		check(fmt.Sprint("cut off after request ", last))
	}
	for seed := range uint64(2) {
		c.spoil = func(w http.ResponseWriter, number int64) http.ResponseWriter {
			if number == 1 { // the capabilities
				return w
			}
			return &spoiledBytes{w, rand.New(rand.NewPCG(seed, uint64(number)))}
		}
		check(fmt.Sprint("damaged with seed ", seed))
	}
}
