// Package corpora writes corpora of C sources for benchmarks and claims. The generator is
// seeded, so two machines measure the same bytes. The package depends on the standard library
// only, and knows no compiler.
package corpora

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Spec describes a corpus.
type Spec struct {
	Name  string
	Cases int
	Bytes int64   // of all cases together, approximately
	Sigma float64 // standard deviation of ln(size); 0 = all sizes equal
	Seed  uint64
}

// Large has the size of the corpora that muster is made for.
func Large() Spec { return Spec{"1GB", 15_000, 1 << 30, 0.85, 1} }

// Mid is a fifteenth of Large.
func Mid() Spec { return Spec{"67MB", 1_000, 67 << 20, 0.85, 2} }

// Small has tiny sources, so that its time is the overhead per case.
func Small() Spec { return Spec{"1KB", 3_000, 3_000 << 10, 0, 3} }

// Many has as many sources as a large conformance suite, each tiny.
func Many() Spec { return Spec{"54k", 54_000, 54_000 << 10, 0, 4} }

// Percentages of sources that compile with a warning, and that do not compile.
const (
	warnings = 3
	failing  = 2
)

// headers is the number of header files. The last lastHeaders of them are at the end of the
// archive, so a reader that streams it lacks them when it needs them.
const (
	headers     = 200
	lastHeaders = 10
)

const folders = 200

// Write writes the corpus as an archive. The content of a file depends only on the spec and
// the file's number.
func Write(path string, s Spec) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := tar.NewWriter(buffered)
	for _, e := range order(s) {
		text := e.content(s)
		if err := w.WriteHeader(&tar.Header{Name: e.name(s), Mode: 0o644, Size: int64(len(text)), Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), buffered.Flush())
}

// Unpack writes the corpus as files below dir.
func Unpack(dir string, s Spec) error {
	for i := range folders {
		if err := os.MkdirAll(filepath.Join(dir, folder(i)), 0o755); err != nil {
			return err
		}
	}
	for _, e := range order(s) {
		if err := os.WriteFile(filepath.Join(dir, e.name(s)), e.content(s), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Cases returns the names of the sources in the archive's order.
func Cases(s Spec) []string {
	names := make([]string, s.Cases)
	for i := range names {
		names[i] = entry{i, false}.name(s)
	}
	return names
}

func folder(i int) string { return fmt.Sprintf("src/%03d", i) }

// An entry is a source or a header, by its number.
type entry struct {
	number int
	header bool
}

// order returns all files in the archive's order.
func order(s Spec) []entry {
	random := rand.New(rand.NewPCG(s.Seed, 1))
	before := make(map[int][]entry, headers)
	for h := range headers - lastHeaders {
		at := random.IntN(s.Cases)
		before[at] = append(before[at], entry{h, true})
	}
	var all []entry
	for i := range s.Cases {
		all = append(append(all, before[i]...), entry{i, false})
	}
	for h := headers - lastHeaders; h < headers; h++ {
		all = append(all, entry{h, true})
	}
	return all
}

// name returns the path. The files of a folder are adjacent, as in archives that tar writes.
func (e entry) name(s Spec) string {
	if e.header {
		return fmt.Sprintf("src/HDR_%03d.h", e.number)
	}
	return fmt.Sprintf("%s/p%05d.c", folder(e.number*folders/s.Cases), e.number)
}

func (e entry) content(s Spec) []byte {
	if e.header {
		return fmt.Appendf(nil, "#pragma once\n#define L%d %d\nstatic inline int g%d(int x) { return x + %d; }\n", e.number, e.number, e.number, e.number)
	}
	random := rand.New(rand.NewPCG(s.Seed, 2+uint64(e.number)))
	h := random.IntN(headers)
	size := s.size(random)
	text := fmt.Appendf(make([]byte, 0, size+200), "#include \"../HDR_%03d.h\"\n", h)
	for f := 0; len(text) < size; f++ {
		text = fmt.Appendf(text, "int f%d(int a, int b) { int s = L%d; for (int i = 0; i < a; i++) s += g%d(b) * %d; return s; }\n", f, h, h, random.IntN(99))
	}
	switch n := random.IntN(100); {
	case n < warnings:
		text = append(text, "char *w(void) { int x = 1; return x; }\n"...)
	case n < warnings+failing:
		text = append(text, "int bad(void) { return undeclared; }\n"...)
	}
	return text
}

// size draws the size of a source from a log-normal distribution around the mean size of the
// spec.
func (s Spec) size(random *rand.Rand) int {
	mean := float64(s.Bytes) / float64(s.Cases)
	if s.Sigma == 0 {
		return int(mean)
	}
	const most = 2 << 20
	return int(min(most, math.Exp(math.Log(mean)-s.Sigma*s.Sigma/2+s.Sigma*random.NormFloat64())))
}
