package corpus_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"muster/regress/internal/corpus"
)

// bigTar makes a tar of so many entries whose contents are holes in the file,
// so that a large one costs the disk little.
func bigTar(b *testing.B, entries, meanBytes int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "big.tar")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	random := rand.New(rand.NewPCG(1, 2))
	at := int64(0)
	for i := range entries {
		size := int64(random.IntN(2 * meanBytes))
		var head bytes.Buffer
		w := tar.NewWriter(&head)
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("src/%03d/file-%06d.c", i/100, i), Size: size, Mode: 0o644}); err != nil {
			b.Fatal(err)
		}
		if _, err := f.WriteAt(head.Bytes(), at); err != nil {
			b.Fatal(err)
		}
		at += int64(head.Len()) + (size+511)/512*512
	}
	if err := f.Truncate(at + 1024); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkIndex opens a plain tar: 1 GB of 15,000 files, and 200,000 small ones.
func BenchmarkIndex(b *testing.B) {
	for _, c := range []struct{ entries, meanBytes int }{{15_000, 67_000}, {200_000, 1000}} {
		b.Run(fmt.Sprintf("%dx%dB", c.entries, c.meanBytes), func(b *testing.B) {
			path := bigTar(b, c.entries, c.meanBytes)
			b.ReportAllocs()
			for b.Loop() {
				corp, err := corpus.Open(context.Background(), corpus.Options{Path: path})
				if err != nil || len(corp.Cases()) != c.entries {
					b.Fatal(err)
				}
				corp.Close()
			}
		})
	}
}

// BenchmarkDigest hashes 1 GB in 15,000 entries (holes: no disk is read).
func BenchmarkDigest(b *testing.B) {
	corp, err := corpus.Open(context.Background(), corpus.Options{Path: bigTar(b, 15_000, 67_000)})
	if err != nil {
		b.Fatal(err)
	}
	defer corp.Close()
	info, err := corp.File().Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		if _, err := corp.Digests(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFolder lists a folder of 15,000 files.
func BenchmarkFolder(b *testing.B) {
	dir := b.TempDir()
	for i := range 15_000 {
		at := filepath.Join(dir, fmt.Sprint(i/100))
		if err := os.MkdirAll(at, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, fmt.Sprint(i)), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		corp, err := corpus.Open(context.Background(), corpus.Options{Path: dir})
		if err != nil {
			b.Fatal(err)
		}
		corp.Close()
	}
}
