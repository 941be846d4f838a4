package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/filestamp"
)

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

// otherStamp changes a file until its stamp is another: the clock of a file system
// ticks every few milliseconds.
func otherStamp(t *testing.T, path string, change func() error) {
	t.Helper()
	stamp := func() string {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return filestamp.Of(info)
	}
	was := stamp()
	for range 100_000 {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if stamp() != was {
			return
		}
	}
	t.Fatalf("%s is still %s", path, was)
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
	age(t, stale, 2)
	// The order must not hang on the clock's grain: each new file is made older.
	made := map[int]string{}
	use := func(i int, path string, hours int) {
		isSmall(t, open(t, corpus.Options{Path: path, Spool: spool}))
		for _, w := range whole(t, spool) {
			if !slices.Contains(slices.Collect(maps.Values(made)), w) {
				made[i] = w
				age(t, strings.TrimSuffix(w, ".tar")+".stamp", hours)
			}
		}
	}
	paths := []string{write(t, "0.tgz", gz(small(t))), write(t, "1.tgz", join(gz(small(t)), gz(nil))), write(t, "2.tgz", join(gz(nil), gz(small(t))))}
	use(0, paths[0], 2)
	use(1, paths[1], 1)
	use(0, paths[0], 0) // again: now newer than 1
	use(2, paths[2], 0)
	left := whole(t, spool)
	if len(left) != 2 || !slices.Contains(left, made[0]) || !slices.Contains(left, made[2]) {
		t.Errorf("spool has %v, want %s and %s", left, made[0], made[2])
	}
	if all := names(t, spool); len(all) != 5 { // with their stamps, and that of somebody else
		t.Errorf("spool has %v", all)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("what a dead writer left is still there")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("a file of somebody else is gone")
	}
}

// whole returns the files in the spool that are kept for the next run.
func whole(t *testing.T, spool string) []string {
	t.Helper()
	var all []string
	for _, n := range names(t, spool) {
		if strings.HasPrefix(n, "corpus-") && strings.HasSuffix(n, ".tar") {
			all = append(all, filepath.Join(spool, n))
		}
	}
	return all
}

func age(t *testing.T, path string, hours int) {
	t.Helper()
	old := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// A spooled file that was cut or damaged is not believed, though the archive still
// has the same names, nor one whose stamp is gone or not whole.
func TestSpoolDamagedSince(t *testing.T) {
	for title, damage := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:1024] }, /* where an entry ends */
		"empty":   func([]byte) []byte { return nil },
		"head":    func(b []byte) []byte { b[1024] ^= 1; return b },
		"content": func(b []byte) []byte { b[bytes.IndexByte(b, 'A')] ^= 1; return b },
	} {
		t.Run(title, func(t *testing.T) {
			damagedSince(t, ".tar", func(path string, b []byte) {
				otherStamp(t, path, func() error { return os.WriteFile(path, damage(bytes.Clone(b)), 0o600) })
			})
		})
	}
	t.Run("stamp gone", func(t *testing.T) {
		damagedSince(t, ".stamp", func(path string, _ []byte) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("stamp cut", func(t *testing.T) {
		damagedSince(t, ".stamp", func(path string, b []byte) {
			if err := os.WriteFile(path, b[:len(b)/2], 0o600); err != nil {
				t.Fatal(err)
			}
		})
	})
}

func damagedSince(t *testing.T, suffix string, damage func(path string, b []byte)) {
	t.Helper()
	said := 0
	o := corpus.Options{Path: write(t, "c.tgz", gz(small(t))), Spool: t.TempDir(), Note: func(string) { said++ }}
	isSmall(t, open(t, o))
	path := strings.TrimSuffix(whole(t, o.Spool)[0], ".tar") + suffix
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damage(path, b)
	isSmall(t, open(t, o))
	isSmall(t, open(t, o))
	if got := whole(t, o.Spool); len(got) != 1 || said != 2 {
		t.Errorf("spool has %v, said %d times", got, said)
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
		"no room to keep": {corpus.Options{Spool: t.TempDir(), Limits: corpus.Limits{Reserve: 1 << 60}}, " cannot be unpacked to …: … are free there, and 1 EiB must stay free; make room, or choose another folder by --state"},
	} {
		c.o.Path = path
		_, err := corpus.Open(context.Background(), c.o)
		if regress.ClassOf(err) != regress.Environment {
			t.Errorf("%s: class %v: %v", title, regress.ClassOf(err), err)
			continue
		}
		like(t, err.Error(), path+c.want)
		if title == "no room to keep" && len(names(t, c.o.Spool)) > 0 {
			t.Errorf("%s: left %v", title, names(t, c.o.Spool))
		}
	}
}

// What is spooled of a stream has no name while it is written: nothing can stay
// of it, however the process ends.
func TestStreamIsSpooledNameless(t *testing.T) {
	spool := t.TempDir()
	tarred := pack(t, file{name: "a", body: strings.Repeat("a", 1<<20)})
	looked := false
	in := io.MultiReader(bytes.NewReader(tarred[:1<<20]), readerFunc(func() {
		looked = true
		if got := names(t, spool); len(got) > 0 {
			t.Errorf("the spool has %v", got)
		}
	}), bytes.NewReader(tarred[1<<20:]))
	open(t, corpus.Options{Path: "-", Stdin: in, Spool: spool})
	if !looked {
		t.Error("not looked")
	}
}

type readerFunc func()

func (f readerFunc) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// An archive that changes while it is unpacked is not used.
func TestChangedWhileUnpacked(t *testing.T) {
	path := write(t, "c.tgz", gz(small(t)))
	change := func(string) {
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
	}
	like(t, refused(t, corpus.Options{Path: path, Note: change}), path+" changed while it ran: it was written to; …")
}
