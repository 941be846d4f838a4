package main_test

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var flips = flag.Int("flips", 10, "how many files of a run TestFlippedBits damages")

// TestFlippedBits flips a bit of a file of a finished run. Each command then does what it does without the
// damage, or it exits with 2 and names the file.
func TestFlippedBits(t *testing.T) {
	d := newDamaged(t, build(t))
	for range *flips {
		file := d.files[rand.IntN(len(d.files))]
		whole, err := os.ReadFile(file)
		d.must(err)
		at, bit := rand.IntN(len(whole)), rand.IntN(8)
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << bit
		for command, want := range d.wants {
			d.must(os.WriteFile(file, damaged, 0o644))
			status, text := d.run(command)
			isNamed := status == 2 && strings.Contains(text, filepath.Base(file))
			if !isNamed && text != want {
				t.Errorf("bit %d of byte %d of %s: %s exits with %d: %s\nwithout the damage: %s", bit, at, file, command, status, text, want)
			}
			d.restore()
		}
	}
}

// damaged is a folder with a golden and a finished check.
type damaged struct {
	*testing.T
	bin, dir string
	files    []string          // of the run
	wants    map[string]string // text of each command without damage
}

func newDamaged(t *testing.T, bin string) *damaged {
	t.Helper()
	d := &damaged{T: t, bin: bin, dir: t.TempDir(), wants: map[string]string{}}
	d.must(os.Mkdir(d.dir+"/src", 0o755))
	for _, name := range []string{"a", "b", "c", "d"} {
		d.must(os.WriteFile(d.dir+"/src/"+name, []byte(name+"\n"), 0o644))
	}
	for _, command := range []string{"record src -q -- cat", "check -q -- sed s/[ab]/changed/;s/c/other/", "accept -q G2"} {
		if status, text := d.run(command); status > 1 {
			t.Fatalf("%s: %d: %s", command, status, text)
		}
	}
	d.must(os.CopyFS(d.dir+"/whole", os.DirFS(d.dir+"/.muster")))
	golden, err := os.ReadFile(d.dir + "/muster.golden")
	d.must(err)
	d.must(os.WriteFile(d.dir+"/whole.golden", golden, 0o644))
	causes, err := filepath.Glob(d.dir + "/.muster/runs/*/causes.json") // a record has none
	d.must(err)
	d.files, err = filepath.Glob(filepath.Dir(causes[0]) + "/*")
	d.must(err)
	for _, command := range []string{"accept --all --dry-run", "accept --all", "groups", "show a", "show G1", "runs", "cases --failing"} {
		_, d.wants[command] = d.run(command)
		d.restore()
	}
	return d
}

func (d *damaged) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// run returns the exit status of a command, and all that it prints.
func (d *damaged) run(command string) (int, string) {
	d.Helper()
	c := exec.CommandContext(d.Context(), d.bin+"/muster", strings.Fields(command)...)
	c.Dir = d.dir
	text, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(text)
	}
	d.must(err)
	return 0, string(text)
}

// restore brings back the state and the golden.
func (d *damaged) restore() {
	d.Helper()
	d.must(os.RemoveAll(d.dir + "/.muster"))
	d.must(os.CopyFS(d.dir+"/.muster", os.DirFS(d.dir+"/whole")))
	golden, err := os.ReadFile(d.dir + "/whole.golden")
	d.must(err)
	d.must(os.WriteFile(d.dir+"/muster.golden", golden, 0o644))
}
