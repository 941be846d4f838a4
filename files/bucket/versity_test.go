package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"muster/fileio"
	"muster/fileio/enginetest"
	"muster/files/bucket"
)

// versity is an object store for a folder, a program of others.
const versity = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

// gateway is a versitygw that runs beside the test.
type gateway struct {
	program, folder, address string
	process                  *exec.Cmd
}

// newGateway builds versitygw into the cache of test tools, which takes two minutes of
// processor time, and starts it.
func newGateway(t *testing.T) *gateway {
	t.Helper()
	if testing.Short() || os.Getenv("MUSTER_LONG") == "" {
		t.Skip("make long builds an object store for this")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(cache, "muster-test", "versitygw-1.8.0")
	g := &gateway{program: filepath.Join(at, "versitygw"), folder: t.TempDir()}
	if _, err := os.Stat(g.program); err != nil {
		build := exec.CommandContext(t.Context(), "go", "install", versity)
		build.Env = append(os.Environ(), "GOBIN="+at, "GOFLAGS=-mod=mod")
		build.Dir = t.TempDir() // outside of this module
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.address = free.Addr().String()
	if err := errors.Join(free.Close(), os.Mkdir(filepath.Join(g.folder, "kept"), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secretsecret")
	g.start(t)
	t.Cleanup(g.kill)
	return g
}

func (g *gateway) start(t *testing.T) {
	t.Helper()
	g.process = exec.CommandContext(t.Context(), g.program, "--access", "key", "--secret", "secretsecret", "--port", g.address, "posix", g.folder)
	if err := g.process.Start(); err != nil {
		t.Fatal(err)
	}
}

func (g *gateway) kill() {
	_ = g.process.Process.Kill() // it may have ended already
	_ = g.process.Wait()
}

// open opens a store at the gateway, once that listens.
func (g *gateway) open(t *testing.T, prefix string) *bucket.Store {
	t.Helper()
	s, err := bucket.Open(bucket.Options{Endpoint: "http://" + g.address, Bucket: "kept", Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for err = s.Probe(t.Context()); errors.Is(err, fileio.ErrBusy); {
		err = s.Probe(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVersity runs the suite at a real object store.
func TestVersity(t *testing.T) {
	g := newGateway(t)
	t.Setenv("MUSTER_TEST_S3", "http://"+g.address+"/kept")
	t.Run("store", TestStore)
	t.Run("sizes", TestSizesInParts)
	t.Run("one wins", TestOneWins)
	t.Run("cut", TestCutUpload)
}

// TestVersityKills kills the object store again and again while writers replace files, in
// parts and whole. What was acknowledged is there, or a later version. No file is torn.
func TestVersityKills(t *testing.T) {
	g := newGateway(t)
	s := g.open(t, "kills")
	const kills, writers = 10, 6
	acknowledged := make([]int, writers)
	var tried [writers]int
	data := func(who, version int) []byte { return enginetest.Content(who*1000+version, 50_000+who%2*partSize) }
	for range kills {
		ctx, end := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		var once sync.Once
		wrote := make(chan struct{})
		for who := range writers {
			wait.Go(func() {
				for ctx.Err() == nil {
					tried[who]++
					content := data(who, tried[who])
					if _, err := s.Put(ctx, fmt.Sprint(who), bytes.NewReader(content), int64(len(content)), nil); err == nil {
						acknowledged[who] = tried[who]
						if who%2 == 1 { // in parts
							once.Do(func() { close(wrote) })
						}
					}
				}
			})
		}
		<-wrote
		g.kill()
		end()
		wait.Wait()
		g.start(t)
		g.open(t, "kills")
		for who, last := range acknowledged {
			got, err := enginetest.Get(t.Context(), s, fmt.Sprint(who))
			found := last == 0 && err != nil
			for version := max(last, 1); version <= tried[who]; version++ {
				found = found || err == nil && bytes.Equal(got, data(who, version))
			}
			if !found {
				t.Errorf("file %d has %d bytes of none of the versions %d to %d: %v", who, len(got), last, tried[who], err)
			}
		}
	}
	t.Logf("acknowledged %v, tried %v", acknowledged, tried)
}
