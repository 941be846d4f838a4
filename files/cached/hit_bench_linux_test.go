package cached_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"muster/internal/nowait"
	"muster/test/kits/enginetest"
)

// BenchmarkHit compares a hit with a read from a folder. Files of 50 KB are not copied, but
// passed on, as to a connection.
func BenchmarkHit(b *testing.B) {
	s, of := open(b, 64<<20)
	for _, size := range []int{1000, 50_000} {
		var names []string
		for i := range 100 {
			data := enginetest.Content(i, size)
			names = append(names, named(data))
			put(b, of.Origin, names[i], data)
			read(b, s, names[i])
		}
		for what, store := range map[string]enginetest.Store{"folder": of.Origin, "copy": s} {
			b.Run(fmt.Sprint(what, "/", size), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					read(b, store, names[i%len(names)])
				}
			})
		}
	}
	if n := of.gets.Load(); n != 200 {
		b.Errorf("%d requests", n)
	}
}

func put(b *testing.B, s enginetest.Store, name string, data []byte) {
	if _, err := s.Put(b.Context(), name, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		b.Fatal(err)
	}
}

func read(b *testing.B, s enginetest.Store, name string) {
	f, err := s.Get(b.Context(), name)
	if err == nil {
		err = errors.Join(f.CopyTo(b.Context(), connection{}, 0, f.Size), f.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
}

// connection is a writer that takes a file from the system's memory.
type connection struct{ io.Writer }

func (connection) Write(p []byte) (int, error) { return len(p), nil }

func (connection) ReadFrom(r io.Reader) (int64, error) {
	section := r.(*nowait.Section)
	n := section.Left
	section.Left = 0
	return n, nil
}
