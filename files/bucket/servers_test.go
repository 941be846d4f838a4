package bucket_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/fileio"
	"muster/files/bucket"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
)

// kinds returns the object stores of others without those that only make long runs.
func kinds(all ...buckettest.Kind) []buckettest.Kind {
	if os.Getenv("MUSTER_LONG") != "" {
		return all
	}
	return slices.DeleteFunc(all, func(k buckettest.Kind) bool { return k == buckettest.Minio })
}

// The suite passes at object stores of others. One that ignores conditions of writes is refused, and
// one that ignores those of deletes refuses such a delete.
func TestServers(t *testing.T) {
	for _, kind := range kinds(buckettest.Versity, buckettest.Minio, buckettest.Moto) {
		t.Run(string(kind), func(t *testing.T) {
			buckettest.Setenv(t)
			server := buckettest.Run(t, kind)
			t.Setenv("MUSTER_TEST_S3", server.URL+"/"+buckettest.Bucket)
			var without []string
			always := func(*fileio.Info) bool { return true }
			if kind == buckettest.Moto {
				checkIgnores(t, openAny(t).Probe(t.Context()), "writes, so two writers could overwrite each other's file: use another one")
				return
			}
			go emptyTrash(t.Context(), filepath.Join(server.Folder, ".minio.sys/tmp/.trash"))
			t.Run("one wins", TestOneWins)
			if kind == buckettest.Minio {
				without = append(without, "conditional deletes")
				checkIgnores(t, openAny(t).Delete(t.Context(), "x", always), "a delete: delete without one")
			}
			t.Run("store", func(t *testing.T) {
				enginetest.RunStore(t, func(t *testing.T) enginetest.Store { return openAny(t) }, without...)
			})
			t.Run("sizes", TestSizesInParts)
			t.Run("cut", TestCutUpload)
		})
	}
}

// emptyTrash removes what MinIO keeps of deleted files for 5 minutes. A race of large files left 22 GB.
func emptyTrash(ctx context.Context, folder string) {
	for range time.Tick(time.Second) {
		if ctx.Err() != nil {
			return
		}
		files, _ := os.ReadDir(folder) // other object stores have none
		for _, f := range files {
			_ = os.RemoveAll(filepath.Join(folder, f.Name())) // or MinIO has just done so
		}
	}
}

func checkIgnores(t *testing.T, err error, which string) {
	t.Helper()
	if !errors.Is(err, errors.ErrUnsupported) || !strings.HasSuffix(err.Error(), " ignores conditions of "+which) {
		t.Errorf("%v, want an object store that ignores conditions of %s", err, which)
	}
}

// A large file is written in parts, and read as a whole and in ranges. In make long it has 5 GiB.
func TestLargeFile(t *testing.T) {
	size := int64(40<<20 + 1)
	if os.Getenv("MUSTER_LONG") != "" {
		size = 5<<30 + 1
	}
	buckettest.Setenv(t)
	s := openAt(t, bucket.Options{Endpoint: buckettest.Run(t, buckettest.Versity).URL, Bucket: buckettest.Bucket})
	content := func() io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{27}), size) }
	if info, err := s.Put(t.Context(), "large", content(), size, nil); err != nil || info.Size != size {
		t.Fatal(info, err)
	}
	f, err := s.Get(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, got := sha256.New(), sha256.New()
	_, wantErr := io.Copy(want, content())
	if err := errors.Join(wantErr, f.CopyTo(t.Context(), got, 0, size)); err != nil || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Error("the file has other bytes", err)
	}
	for _, offset := range []int64{size / 3, size*4/5 - 3, size - 7} {
		rest := content()
		_, skipErr := io.CopyN(io.Discard, rest, offset)
		var want, got bytes.Buffer
		_, wantErr := io.CopyN(&want, rest, 7)
		if err := errors.Join(skipErr, wantErr, f.CopyTo(t.Context(), &got, offset, 7)); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("at %d: %x, want %x: %v", offset, got.Bytes(), want.Bytes(), err)
		}
	}
}

// An object store is killed again and again while writers replace files, in parts and whole.
// What was acknowledged is there, or a later version. No file is torn.
func TestStoreIsKilled(t *testing.T) {
	for _, kind := range kinds(buckettest.Versity, buckettest.Minio) {
		t.Run(string(kind), func(t *testing.T) { killStore(t, kind) })
	}
}

func killStore(t *testing.T, kind buckettest.Kind) {
	kills, writers := 3, 6
	if os.Getenv("MUSTER_LONG") != "" {
		kills = 20
	}
	buckettest.Setenv(t)
	server := buckettest.Run(t, kind)
	s := openAt(t, bucket.Options{Endpoint: server.URL, Bucket: buckettest.Bucket, Prefix: "kills"})
	acknowledged, tried := make([]int, writers), make([]int, writers)
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
		server.Kill()
		end()
		wait.Wait()
		server.Start(t)
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
