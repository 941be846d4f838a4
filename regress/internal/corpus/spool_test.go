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
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/fault"
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

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A plain archive is used in place; a compressed one is unpacked once, and
// again only when the file is another.
func TestSpoolIsReused(t *testing.T) {
	spool := filepath.Join(t.TempDir(), "state", "cache")
	var said []string
	o := corpus.Options{Spool: spool, Note: func(s string) { said = append(said, s) }}
	o.Path = write(t, "c.tar", small(t))
	isSmall(t, open(t, o))
	if got := names(t, spool); len(got)+len(said) > 0 {
		t.Fatalf("a plain archive spooled %v and said %q", got, said)
	}

	o.Path = write(t, "c.tar.gz", gz(small(t)))
	isSmall(t, open(t, o))
	first := names(t, spool)
	if len(first) != 1 || len(said) != 1 || !strings.Contains(said[0], "unpacked to "+spool+" (") {
		t.Fatalf("spooled %v, said %q", first, said)
	}
	// Mark it, to see that it is this file that the next run uses.
	mark(t, filepath.Join(spool, first[0]), "A", "M")
	c := open(t, o)
	if got := content(t, c, c.Cases()[0]); got != "M" || len(said) != 1 {
		t.Errorf("the second run has %q and said %q", got, said[1:])
	}

	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(o.Path, later, later); err != nil {
		t.Fatal(err)
	}
	isSmall(t, open(t, o))
	if got := names(t, spool); len(said) != 2 || len(got) != 2 {
		t.Errorf("after a change: said %q, spool has %v", said, got)
	}
}

// mark replaces the first block's start that is old.
func mark(t *testing.T, path, old, now string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, append([]byte(old), make([]byte, 500)...))
	copy(b[at:], now)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSpoolKeepsTwo(t *testing.T) {
	spool := t.TempDir()
	stale := filepath.Join(spool, "corpus-dead.tmp")
	foreign := filepath.Join(spool, "other.tar")
	for _, path := range []string{stale, foreign} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths := make([]string, 4)
	for i := range paths {
		paths[i] = write(t, fmt.Sprintf("%d.tar.gz", i), gz(small(t)))
	}
	age := func(path string, hours int) { // so that the order does not hang on the clock's grain
		old := time.Now().Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	whole := func() []string {
		var all []string
		for _, n := range names(t, spool) {
			if strings.HasPrefix(n, "corpus-") {
				all = append(all, filepath.Join(spool, n))
			}
		}
		return all
	}
	isSmall(t, open(t, corpus.Options{Path: paths[0], Spool: spool}))
	zero := whole()
	if len(zero) != 1 {
		t.Fatalf("spool has %v", zero)
	}
	age(zero[0], 2)
	isSmall(t, open(t, corpus.Options{Path: paths[1], Spool: spool}))
	for _, path := range whole() {
		if path != zero[0] {
			age(path, 1)
		}
	}
	isSmall(t, open(t, corpus.Options{Path: paths[0], Spool: spool})) // used again: now the newer
	isSmall(t, open(t, corpus.Options{Path: paths[2], Spool: spool}))
	left := whole()
	if len(left) != 2 || left[0] != zero[0] && left[1] != zero[0] {
		t.Errorf("spool has %v, want two, and of the older two the one used again (%s)", left, zero[0])
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("what a dead writer left is still there")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("a file of somebody else is gone")
	}
}

// A spooled file that was cut or damaged is not believed.
func TestSpoolDamagedSince(t *testing.T) {
	for title, damage := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:1000] },
		"empty":   func([]byte) []byte { return nil },
		"flipped": func(b []byte) []byte { b[1024] ^= 1; return b },
	} {
		t.Run(title, func(t *testing.T) {
			o := corpus.Options{Path: write(t, "c.tgz", gz(small(t))), Spool: t.TempDir()}
			isSmall(t, open(t, o))
			path := filepath.Join(o.Spool, names(t, o.Spool)[0])
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			isSmall(t, open(t, o))
			isSmall(t, open(t, o))
			if got := names(t, o.Spool); len(got) != 1 {
				t.Errorf("spool has %v", got)
			}
		})
	}
}

func TestSpoolRefused(t *testing.T) {
	path := write(t, "c.tgz", gz(small(t)))
	blocked := write(t, "file", nil)
	for title, c := range map[string]struct {
		o    corpus.Options
		want string
	}{
		"no folder":       {corpus.Options{}, " must be unpacked, and there is no folder for it; name one by --state"},
		"not a folder":    {corpus.Options{Spool: blocked + "/x"}, " cannot be unpacked to " + blocked + "/x: not a directory; choose a folder that can be written, by --state"},
		"no room to keep": {corpus.Options{Spool: t.TempDir(), Limits: corpus.Limits{Reserve: 1 << 60}}, " cannot be unpacked to …: … are free there, and 1.0 EiB must stay free; make room, or choose another folder by --state"},
	} {
		c.o.Path = path
		_, err := corpus.Open(context.Background(), c.o)
		if fault.ClassOf(err) != fault.Environment {
			t.Errorf("%s: class %v: %v", title, fault.ClassOf(err), err)
			continue
		}
		like(t, err.Error(), path+c.want)
		if title == "no room to keep" && len(names(t, c.o.Spool)) > 0 {
			t.Errorf("%s: left %v", title, names(t, c.o.Spool))
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
			for i := range content {
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
		if fault.ClassOf(err) != fault.Input || !strings.HasPrefix(err.Error(), "standard input ") {
			t.Errorf("%s: class %v: %v", what, fault.ClassOf(err), err)
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
	like(t, refused(t, corpus.Options{Path: path}), path+" is damaged, or not whole: its xz-compressed stream: xz: Unexpected end of input (exit status 1); copy or make it again")
}

func TestWindowTooLarge(t *testing.T) {
	program(t, "zstd")
	path := write(t, "c.tar", small(t))
	run(t, filepath.Dir(path), "sh", "-c", "zstd -q --ultra --long=31 <c.tar >c.tar.zst") // a stream: the size is not known
	like(t, refused(t, corpus.Options{Path: path + ".zst"}), path+".zst is damaged, or not whole: its zstd-compressed stream: window size exceeded (128.0 MiB); repack it without --long; …")
}

func TestDictionaryTooLarge(t *testing.T) {
	program(t, "xz")
	path := write(t, "c.tar", small(t))
	run(t, filepath.Dir(path), "sh", "-c", "head -c 2000 c.tar | xz -0 >c.tar.xz; tail -c +2001 c.tar | xz --lzma2=preset=0,dict=768MiB >>c.tar.xz")
	t.Run("program", func(t *testing.T) {
		like(t, refused(t, corpus.Options{Path: path + ".xz"}), path+".xz is damaged, or not whole: …Memory usage limit reached…")
	})
	t.Run("library", func(t *testing.T) {
		t.Setenv("PATH", "")
		like(t, refused(t, corpus.Options{Path: path + ".xz"}), path+".xz is damaged, or not whole: …a dictionary of 768.0 MiB, more than 512.0 MiB; …")
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
		if fault.ClassOf(err) != fault.Interrupted {
			t.Errorf("%s: class %v: %v", path, fault.ClassOf(err), err)
		}
		if left := names(t, spool); len(left) > 0 {
			t.Errorf("%s: left %v", path, left)
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
		w.Write(tarred[:1000]) // returns when they have been read
		cancel()
	}()
	_, err := corpus.Open(ctx, corpus.Options{Path: "-", Stdin: r, Spool: t.TempDir()})
	if fault.ClassOf(err) != fault.Interrupted {
		t.Errorf("class %v: %v", fault.ClassOf(err), err)
	}
}

// A source that fails is not the archive's fault.
func TestSourceFails(t *testing.T) {
	for base, content := range packings(t, small(t)) {
		in := io.MultiReader(bytes.NewReader(content[:len(content)-20]), failing{})
		_, err := corpus.Open(context.Background(), corpus.Options{Path: "-", Stdin: in, Spool: t.TempDir()})
		if fault.ClassOf(err) != fault.Environment || err.Error() != "standard input cannot be read: wire cut" {
			t.Errorf("%s: class %v: %v", base, fault.ClassOf(err), err)
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
