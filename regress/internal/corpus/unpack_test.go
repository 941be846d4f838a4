package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"muster/regress"
	"muster/regress/internal/corpus"
)

func small(t *testing.T) []byte {
	return pack(t, file{name: "a", body: "A", exec: true}, file{name: "HDR_b", body: strings.Repeat("b", 5000)}, file{name: "l", link: "a"})
}

const smallText = "case a x = A\ncase l x = A\ngiven HDR_b = "

func isSmall(t *testing.T, c *corpus.Corpus) {
	t.Helper()
	if got, want := describe(t, c), smallText+strings.Repeat("b", 5000)+"\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}

// packings are the ways in which an archive comes.
func packings(t *testing.T, tarred []byte) map[string][]byte {
	half := len(tarred) / 2
	return map[string][]byte{
		"c.tar": tarred, "c.tar.gz": gz(tarred), "c.tar.zst": zst(tarred), "c.tar.xz": xzd(tarred),
		"members.tgz":  join(gz(tarred[:half]), gz(tarred[half:])),
		"frames.tzst":  join([]byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"), zst(tarred[:half]), zst(tarred[half:])),
		"streams.txz":  join(xzd(tarred[:half]), make([]byte, 8), xzd(tarred[half:])),
		"no-suffix":    gz(tarred),
		"several.dots": xzd(tarred),
	}
}

func TestPackings(t *testing.T) {
	for _, path := range []string{os.Getenv("PATH"), ""} { // with the xz program, and by the library
		for base, content := range packings(t, small(t)) {
			t.Run(base, func(t *testing.T) {
				t.Setenv("PATH", path)
				isSmall(t, open(t, corpus.Options{Path: write(t, base, content)}))
				spool := t.TempDir()
				isSmall(t, open(t, corpus.Options{Path: "-", Stdin: bytes.NewReader(content), Spool: spool}))
				if left := names(t, spool); len(left) > 0 {
					t.Errorf("of a stream stays %v", left)
				}
			})
		}
	}
}

// The programs' own output, with several blocks, threads and levels.
func TestProgramsOutput(t *testing.T) {
	tarred := small(t)
	for _, args := range [][]string{
		{"gzip", "-1"}, {"gzip", "-9"}, {"zstd", "-q"}, {"zstd", "-q", "-19", "--long=27"}, {"zstd", "-q", "--no-check"},
		{"xz", "-0"}, {"xz", "-9e"}, {"xz", "--block-size=2000"}, {"xz", "-T2", "--check=sha256", "--block-size=1000"}, {"xz", "--check=none"},
	} {
		path := write(t, "c", tarred)
		run(t, filepath.Dir(path), append(args, "c")...)
		made, err := filepath.Glob(path + ".*")
		if err != nil || len(made) != 1 {
			t.Fatalf("%v made %v, %v", args, made, err)
		}
		for _, env := range []string{os.Getenv("PATH"), ""} {
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				t.Setenv("PATH", env)
				isSmall(t, open(t, corpus.Options{Path: made[0]}))
			})
		}
	}
}

// A damaged or cut compressed archive is an error, whatever byte it is, or the
// byte carried nothing.
func TestCompressedDamage(t *testing.T) {
	tarred := pack(t, file{name: "a", body: "A"}, file{name: "b", body: "BB"})
	for base, content := range packings(t, tarred) {
		if base == "c.tar" {
			continue
		}
		t.Run(base, func(t *testing.T) {
			t.Setenv("PATH", "") // a process for each would take minutes
			for i := 0; i < len(content); i += stride() {
				mangled := bytes.Clone(content)
				mangled[i] ^= 0x10
				checkMangled(t, fmt.Sprintf("byte %d of %d flipped", i, len(content)), mangled)
				checkMangled(t, fmt.Sprintf("cut to %d of %d", i, len(content)), content[:i])
			}
		})
	}
}

func checkMangled(t *testing.T, what string, content []byte) {
	t.Helper()
	spool := t.TempDir()
	c, err := corpus.Open(context.Background(), corpus.Options{Path: "-", Stdin: bytes.NewReader(content), Spool: spool})
	if left := names(t, spool); len(left) > 0 {
		t.Fatalf("%s: left %v", what, left)
	}
	if err != nil {
		if regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), "standard input ") {
			t.Errorf("%s: class %v: %v", what, regress.ClassOf(err), err)
		}
		return
	}
	defer c.Close()
	// Between two members or frames the decoder cannot see that the rest is
	// gone; the tar tells, unless an entry ends there too.
	if got := describe(t, c); got != "case a = A\ncase b = BB\n" && got != "case a = A\n" {
		t.Errorf("%s: gives %q", what, got)
	}
}

func TestXZProgramTellsWhatIsWrong(t *testing.T) {
	program(t, "xz")
	content := xzd(small(t))
	path := write(t, "c.tar.xz", content[:len(content)-10])
	like(t, refused(t, corpus.Options{Path: path}), path+" is damaged or incomplete: its xz-compressed stream: xz: Unexpected end of input (exit status 1); copy or make it again")
}

// An xz program that something kills says nothing about the archive.
func TestXZProgramIsKilled(t *testing.T) {
	bin := filepath.Dir(write(t, "xz", []byte("#!/bin/sh\necho full >&2\nkill -KILL $$\n")))
	if err := os.Chmod(filepath.Join(bin, "xz"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	path := write(t, "c.tar.xz", xzd(small(t)))
	_, err := corpus.Open(t.Context(), corpus.Options{Path: path, Spool: t.TempDir()})
	if regress.ClassOf(err) != regress.Environment {
		t.Fatalf("class %v: %v", regress.ClassOf(err), err)
	}
	like(t, err.Error(), path+" cannot be unpacked: the xz program failed: signal: killed: full; free memory and run again, or name the archive unpacked")
}

func TestWindowTooLarge(t *testing.T) {
	program(t, "zstd")
	path := write(t, "c.tar", small(t))
	run(t, filepath.Dir(path), "sh", "-c", "zstd -q --ultra --long=31 <c.tar >c.tar.zst") // a stream: the size is not known
	like(t, refused(t, corpus.Options{Path: path + ".zst"}), path+".zst is damaged or incomplete: its zstd-compressed stream: window size exceeded (128 MiB); repack it without --long; …")
}

func TestDictionaryTooLarge(t *testing.T) {
	program(t, "xz")
	path := write(t, "c.tar", small(t))
	run(t, filepath.Dir(path), "sh", "-c", "head -c 2000 c.tar | xz -0 >c.tar.xz; tail -c +2001 c.tar | xz --lzma2=preset=0,dict=768MiB >>c.tar.xz")
	t.Run("program", func(t *testing.T) {
		like(t, refused(t, corpus.Options{Path: path + ".xz"}), path+".xz is damaged or incomplete: …Memory usage limit reached…")
	})
	t.Run("library", func(t *testing.T) {
		t.Setenv("PATH", "")
		like(t, refused(t, corpus.Options{Path: path + ".xz"}), path+".xz is damaged or incomplete: …its dictionary has more than 64 MiB; …")
	})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{write(t, "c.tar", small(t)), write(t, "c.tgz", gz(small(t))), write(t, "c.txz", xzd(small(t))), dir, "-"} {
		spool := t.TempDir()
		_, err := corpus.Open(ctx, corpus.Options{Path: path, Spool: spool, Stdin: bytes.NewReader(small(t))})
		if regress.ClassOf(err) != regress.Interrupted {
			t.Errorf("%s: class %v: %v", path, regress.ClassOf(err), err)
		}
		if left := names(t, spool); len(left) > 0 {
			t.Errorf("%s: left %v", path, left)
		}
	}
}

// countdown is a context that ends at the n-th look at it.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever it is cancelled, it stops there and leaves nothing half done.
func TestCancelledAnywhere(t *testing.T) {
	tarred := pack(t, file{name: "a", body: strings.Repeat("0123456789", 30_000)}, file{name: "b", body: "b"})
	for base, content := range packings(t, tarred) {
		path := write(t, base, content)
		stops := 0
		for ; ; stops++ {
			ctx := &countdown{Context: context.Background()}
			ctx.left.Store(int64(stops))
			spool := t.TempDir()
			c, err := corpus.Open(ctx, corpus.Options{Path: path, Spool: spool})
			if err == nil {
				c.Close()
				break
			}
			if left := names(t, spool); regress.ClassOf(err) != regress.Interrupted || len(left) > 0 {
				t.Fatalf("%s, look %d: class %v: %v; left %v", base, stops, regress.ClassOf(err), err, left)
			}
		}
		if want := map[bool]int{true: 2, false: 8}[base == "c.tar"]; stops < want {
			t.Errorf("%s: looked %d times, want at least %d", base, stops, want)
		}
	}
}

// A standard input that says nothing more does not keep a cancelled Open.
func TestCancelledWhileInputBlocks(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	tarred := small(t)
	go func() {
		w.Write(tarred[:100]) // returns when they have been read
		cancel()
	}()
	_, err := corpus.Open(ctx, corpus.Options{Path: "-", Stdin: r, Spool: t.TempDir()})
	if regress.ClassOf(err) != regress.Interrupted {
		t.Errorf("class %v: %v", regress.ClassOf(err), err)
	}
}

// A source that fails is not the archive's fault.
func TestSourceFails(t *testing.T) {
	for base, content := range packings(t, small(t)) {
		in := io.MultiReader(bytes.NewReader(content[:len(content)-20]), failing{})
		_, err := corpus.Open(context.Background(), corpus.Options{Path: "-", Stdin: in, Spool: t.TempDir()})
		if regress.ClassOf(err) != regress.Environment || err.Error() != "standard input cannot be read: wire cut" {
			t.Errorf("%s: class %v: %v", base, regress.ClassOf(err), err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("wire cut") }

func TestNamedPipe(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, "mkfifo", "p")
	go os.WriteFile(filepath.Join(dir, "p"), gz(small(t)), 0)
	isSmall(t, open(t, corpus.Options{Path: filepath.Join(dir, "p")}))
}
