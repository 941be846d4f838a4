package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
)

// seeing prints every path that a case is told, in all the ways out.
const seeing = `
	pwd; /bin/pwd; echo $HOME $TMPDIR; readlink -f $1
	pwd >&2
	echo "in $PWD/$1" > small
	ln -s $PWD/HDR_a.h absolute; ln -s $TMPDIR tmp
	i=0; while [ $i -lt 3000 ]; do echo "$i $PWD $HOME"; i=$((i+1)); done > lines
	i=0; while [ $i -lt 10 ]; do cat lines; i=$((i+1)); done > large
	cat large
	printf '\000\377%s\000' "$TMPDIR" > binary
	mkdir -p mirror$PWD; echo x > mirror$PWD/n`

// TestCanonical: a tool that prints where it is prints the same on every lane
// and in both modes, in memory and on a disk.
func TestCanonical(t *testing.T) {
	c := usual(t)
	const path = "/tmp/muster/canonical/lane"
	var want []string
	disks := []string{"", t.TempDir(), filepath.Join(t.TempDir(), "a-longer-name-than-the-canonical-one-has")}
	for _, dir := range disks {
		for _, plain := range []bool{false, true} {
			if dir != "" {
				must(t, os.MkdirAll(dir, 0o755))
				t.Setenv("TMPDIR", linked(t, dir))
			}
			r := newRig(t, c, func(o *Options) {
				o.Lanes, o.plain = 2, plain
				if dir != "" {
					o.OutputMax = 1 << 50 // too much for memory
				}
			})
			for avoid := range 2 {
				got := r.runAvoiding(avoid, "sub/two.c", seeing)
				if want == nil {
					want = got
				}
				r.want(got, want...)
			}
			if told := strings.Contains(fmt.Sprint(r.notes.said), dir); dir != "" && !told {
				t.Errorf("lanes on a disk were not told of: %q", r.notes.said)
			}
		}
	}
	for _, line := range []string{
		fmt.Sprintf("absolute -> %s/work/HDR_a.h", path), fmt.Sprintf("tmp -> %s/tmp", path),
		fmt.Sprintf(`small "in %s/work/sub/two.c\n"`, path), fmt.Sprintf(`stderr "%s/work\n"`, path),
		fmt.Sprintf(`binary "\x00\xff%s/tmp\x00"`, path), fmt.Sprintf(`mirror%s/work/n "x\n"`, path),
	} {
		if !slices.Contains(want, line) {
			t.Errorf("no %s in\n%s", line, strings.Join(want, "\n"))
		}
	}
}

// linked makes a symlink to a folder: what a tool prints has it resolved.
func linked(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, name))
	return name
}

func (r *rig) runAvoiding(lane int, name, text string) []string {
	r.Helper()
	job := r.job(name, text)
	job.Avoid = lane
	result, err := exec.Run(context.Background(), r.crew, job)
	must(r, err)
	defer result.Release()
	return r.tell(result)
}

// TestArguments: what names the canonical path leads there in both modes.
func TestArguments(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		command, err := exec.Resolve([]string{"/bin/cp", Canonical + "/work/{in}", Canonical + "/work/copy"}, false, false)
		must(r, err)
		result, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry("one.c"), Command: command, Avoid: exec.NoLane})
		must(r, err)
		defer result.Release()
		r.want(r.tell(result), "exit 0", `copy "source one\n"`)
	})
}

// TestPathLengths: tools that lay out what they write by the length of a path
// must not see the difference.
func TestPathLengths(t *testing.T) {
	for _, parent := range []string{"/tmp", memoryFolder, "/a/b", "/"} {
		dir := t.TempDir()
		b, err := makeBase(dir)
		must(t, err)
		must(t, b.remove())
		random := len(b.dir) - len(filepath.Join(dir, basePrefix))
		lane := len(filepath.Join(parent, basePrefix, "000")) + tokenLength(parent)
		if lane != len(Canonical) {
			t.Errorf("below %s lanes' paths have %d bytes, not %d", parent, lane, len(Canonical))
		}
		if random != tokenLength(dir) {
			t.Errorf("%s has %d random characters", b.dir, random)
		}
	}
	r := newRig(t, usual(t), plainly)
	if strings.HasPrefix(r.crew.lanes[0].root, memoryFolder) && len(r.crew.lanes[0].root) != len(Canonical) {
		t.Errorf("%s is not as long as %s", r.crew.lanes[0].root, Canonical)
	}
}

// TestUnfit: lanes work in memory only where there is room for all that they
// may hold, and where they may run what they make.
func TestUnfit(t *testing.T) {
	if !again(t, asRootOfItsOwn) {
		return
	}
	mountOver(t, memoryFolder, "size=40m", 0)
	c := usual(t)
	for _, d := range []struct {
		change func(*Options)
		flags  uintptr
		why    string // "" for in memory
	}{
		{func(o *Options) { o.OutputMax = 10 << 20 }, 0, ""},
		{func(o *Options) { o.OutputMax = 10 << 20; o.Lanes = 3 }, 0, ""},
		{func(o *Options) { o.OutputMax = 10 << 20; o.Lanes = 5 }, 0, "may need"},
		{func(o *Options) { o.OutputMax = 50 << 20 }, 0, "may need"},
		{func(o *Options) { o.OutputMax = 10 << 20 }, syscall.MS_NOEXEC, "programs"},
	} {
		must(t, syscall.Mount("none", memoryFolder, "", syscall.MS_REMOUNT|d.flags, "size=40m"))
		r := newRig(t, c, d.change)
		inMemory := strings.HasPrefix(r.crew.base.dir, memoryFolder)
		said := strings.Join(r.notes.said, "\n")
		if inMemory != (d.why == "") || !strings.Contains(said, d.why) || d.why == "" && said != "" || strings.Contains(said, "warning") {
			t.Errorf("lanes in %s, and was told %q", r.crew.base.dir, said)
		}
		r.want(r.run("one.c", "cp HDR_tool.sh t; ./t; rm t"), "exit 0", `stdout "tool\n"`)
	}
}

// TestFullFileSystem is the machine's fault and no outcome; what comes after is
// as before.
func TestFullFileSystem(t *testing.T) {
	if !again(t, asRootOfItsOwn) {
		return
	}
	mountOver(t, memoryFolder, "size=4m", 0)
	inBothModes(t, usual, func(r *rig) {
		const mend = "no space left on device; free space in /dev/shm, or use fewer --jobs"
		filler := filepath.Join(memoryFolder, "filler")
		for _, text := range []string{
			"exec yes > f", "yes > $HOME/f; sleep 86400", "yes; exit 0", "sleep 86400", "exit 0",
		} {
			fill(r.T, filler, 300<<10)
			if text == "exit 0" || text == "sleep 86400" {
				fill(r.T, filler, 10<<10)
			}
			if result, err := r.try("one.c", text); regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), mend) {
				r.Errorf("%q on a full disk gave %v, %v", text, result, err)
			}
			must(r, os.Remove(filler))
			r.wantClean("next.c")
			r.wantNothingOut()
		}
	}, func(o *Options) { o.OutputMax = 3 << 20 })
}

// fill leaves so many bytes free. A helper may still be clearing up meanwhile.
func fill(t *testing.T, file string, left int64) {
	t.Helper()
	for {
		_ = os.Remove(file)
		var st syscall.Statfs_t
		must(t, syscall.Statfs(filepath.Dir(file), &st))
		err := os.WriteFile(file, make([]byte, int64(st.Bavail)*int64(st.Bsize)-left), 0o600)
		if !errors.Is(err, syscall.ENOSPC) {
			must(t, err)
			return
		}
	}
}

// TestCorpusGone: a source that cannot be had as it was listed is no outcome,
// and the error names it.
func TestCorpusGone(t *testing.T) {
	dir := t.TempDir()
	for _, f := range append(slices.Clone(given), cases...) {
		if f.link == "" {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f.name)), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, f.name), []byte(f.body), 0o644))
		}
	}
	folder := func(t testing.TB) *corpus.Corpus { return openCorpusAt(t, dir) }
	at := filepath.Join(dir, "sub/two.c")
	for name, spoil := range map[string]func() error{
		"removed":   func() error { return nil },
		"shorter":   func() error { return os.WriteFile(at, []byte("x"), 0o644) },
		"longer":    func() error { return os.WriteFile(at, make([]byte, 100), 0o644) },
		"a folder":  func() error { return os.Mkdir(at, 0o755) },
		"a pipe":    func() error { return syscall.Mkfifo(at, 0o644) },
		"a symlink": func() error { return os.Symlink("../one.c", at) },
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.RemoveAll(at))
			must(t, os.WriteFile(at, []byte("source two\n"), 0o644))
			inBothModes(t, folder, func(r *rig) {
				r.want(r.run("sub/two.c", "cat $1"), "exit 0", `stdout "source two\n"`)
				must(t, os.RemoveAll(at))
				must(t, spoil())
				_, err := r.try("sub/two.c", "cat $1")
				if regress.ClassOf(err) != regress.Input || !strings.Contains(fmt.Sprint(err), "sub/two.c") {
					r.Errorf("gave %v", err)
				}
				r.want(r.run("one.c", "cat $1; find . -name two.c"), "exit 0", `stdout "source one\n"`)
				must(t, os.RemoveAll(at))
				must(t, os.WriteFile(at, []byte("source two\n"), 0o644))
			})
		})
	}
}

// TestOutsideIsLeftAlone: files that a case links into its folder are read, and
// stay as they are.
func TestOutsideIsLeftAlone(t *testing.T) {
	r := newRig(t, usual(t), plainly) // in a namespace nothing outside can be linked to
	outside := filepath.Join(filepath.Dir(r.crew.base.dir), fmt.Sprintf("outside-%d", os.Getpid()))
	must(t, os.MkdirAll(filepath.Join(outside, "deep"), 0o755))
	t.Cleanup(func() { os.RemoveAll(outside) })
	small, large := filepath.Join(outside, "HDR_b.h"), filepath.Join(outside, "large")
	before := func() (lines []string) {
		must(t, filepath.WalkDir(outside, func(path string, _ os.DirEntry, err error) error {
			line, err2 := describe(path)
			lines = append(lines, path+" "+line)
			must(t, err)
			return err2
		}))
		return lines
	}
	must(t, os.WriteFile(small, []byte("outside\n"), 0o640))
	must(t, os.WriteFile(large, make([]byte, 3<<20), 0o444))
	must(t, os.WriteFile(filepath.Join(outside, "deep", "HDR_c.h"), []byte("outside c\n"), 0o600))
	want := before()
	r.want(r.run("one.c", "ln "+small+" s; ln "+large+" l"), "exit 0", "l "+zeros(3<<20), `s "outside\n"`)
	r.want(r.run("one.c", "rm -r inc; ln -s "+outside+" inc"), "exit 0",
		"inc -> "+outside, "inc/HDR_b.h gone", "inc/deep/HDR_c.h gone")
	r.want(r.run("one.c", "cd ..; rm -r work; ln -s "+outside+" work"), append([]string{"exit 0"}, append(slices.Clone(everything[:5]), "one.c gone", everything[5])...)...)
	r.want(r.run("one.c", "cd ../..; mv 000 x; ln -s "+outside+" 000"), append([]string{"exit 0"}, append(slices.Clone(everything[:5]), "one.c gone", everything[5])...)...)
	r.wantClean("next.c")
	r.want(before(), want...)
}
