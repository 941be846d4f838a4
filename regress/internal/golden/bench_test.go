package golden

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"muster/regress/internal/outcome"
)

// assembly returns about size bytes that compress as a compiler's output does.
func assembly(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	ops := []string{"movq", "leaq", "addl", "subq", "cmpl", "jne", "call", "pushq", "testl", "xorl"}
	regs := []string{"%rax", "%rbx", "%ecx", "%rdi", "%rsp", "%r12d"}
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "\t%s\t%d(%s), %s\n", ops[r.IntN(len(ops))], r.IntN(4096), regs[r.IntN(len(regs))], regs[r.IntN(len(regs))])
	}
	return b.Bytes()[:size]
}

func benchRecord(i int, content []byte) (Record, Content) {
	r := Record{Name: fmt.Sprintf("dir%03d/case%05d.c", i/100, i), Runs: 2}
	r.Outcome.Parts = []outcome.Part{
		{Key: outcome.Key{Place: outcome.Stdout}, Digest: outcome.Of(nil)},
		{Key: outcome.Key{Place: outcome.Stderr}, Digest: outcome.Of(nil)},
		{Key: outcome.Key{Place: outcome.File, Path: r.Name + ".o"}, Size: int64(len(content)), Digest: outcome.Of(content)},
	}
	return r, func(outcome.Part) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
}

// benchStore builds a store of n cases with size bytes each, on two lanes.
func benchStore(b testing.TB, path string, n, size int) {
	const lanes, variants = 2, 64
	base := make([][]byte, variants)
	for i := range base {
		base[i] = assembly(uint64(i), size)
	}
	w, err := Create(path, Meta{})
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			for i := lane; i < n; i += lanes {
				content := bytes.Clone(base[i%variants])
				copy(content, fmt.Sprintf("# %d\n", i))
				r, open := benchRecord(i, content)
				if err := w.Put(context.Background(), r, open); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Finish(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWrite15000x67K(b *testing.B) {
	for b.Loop() {
		benchStore(b, filepath.Join(b.TempDir(), "g"), 15000, 67<<10)
	}
	b.SetBytes(15000 * 67 << 10)
}

func BenchmarkOpen15000(b *testing.B) {
	path := filepath.Join(b.TempDir(), "g")
	benchStore(b, path, 15000, 100)
	for b.Loop() {
		s, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
