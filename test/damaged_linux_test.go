package test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damages is the number of places at which TestDamagedGolden damages a golden. make long asks
// for all.
var damages = flag.Int("damages", 60, "at how many places TestDamagedGolden damages a golden; 0 = at every one")

// damaging is a small golden, and the results of two checks against it.
type damaging struct {
	folder
	golden   []byte
	commands [2][]string
	verdicts [2]map[string]string
	status   [2]int
}

// TestDamagedGolden checks against goldens with one changed byte, and against goldens that are
// cut. It checks the tool that made the golden, which reads no content, and a tool that changes
// each case in another way. Muster must report the truth, or that the golden is damaged.
func TestDamagedGolden(t *testing.T) {
	long(t)
	d := newDamaging(t)
	var places []int
	for at, b := range d.golden {
		if b != 0 { // unused bytes are zero, and TestEveryByteFlipped covers them
			places = append(places, at)
		}
	}
	seed := chosenSeed()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("%d bytes, %d of them used, seed %d", len(d.golden), len(places), seed)
	if *damages > 0 {
		r.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		places = places[:*damages]
	}
	refused := 0
	for _, at := range places {
		damaged := bytes.Clone(d.golden)
		damaged[at] ^= byte(1 + r.IntN(255))
		refused += d.check(damaged, fmt.Sprintf("byte %d is %#x", at, damaged[at]))
	}
	for range len(places) / 10 {
		size := r.IntN(len(d.golden))
		if d.check(d.golden[:size], fmt.Sprintf("cut to %d bytes", size)) == 0 {
			t.Errorf("a golden that is cut to %d bytes was taken", size)
		}
	}
	if refused < len(places)/2 {
		t.Errorf("only %d of %d damaged goldens were refused", refused, len(places))
	}
}

func newDamaging(t *testing.T) *damaging {
	d := &damaging{folder: newFolder(t)}
	for i := range 6 {
		d.write(fmt.Sprintf("src/%d", i), strings.Repeat(fmt.Sprintf("line %d\n", i), 1+i*i*9), 0o644)
	}
	tool := d.write("tool", `#!/bin/sh
cp $1 $1.out
test "$2" = new || exit 0
case $1 in
0) echo more ;;
1) exit 1 ;;
2) echo x >> $1.out ;;
3) rm $1.out ;;
4) kill -SEGV $$ ;;
esac
`, 0o755)
	d.commands = [2][]string{{tool, "{in}"}, {tool, "{in}", "new"}}
	d.muster(0, append([]string{"record", "src", "--"}, d.commands[0]...)...)
	for i := range d.commands {
		status, said := d.checked(i)
		d.status[i], d.verdicts[i] = status, d.folder.verdicts(said)
	}
	if d.status != [2]int{0, 1} || len(d.verdicts[1]) != 6 {
		t.Fatalf("%v %v", d.status, d.verdicts)
	}
	var err error
	if d.golden, err = os.ReadFile(filepath.Join(d.dir, "muster.golden")); err != nil {
		t.Fatal(err)
	}
	return d
}

// check returns 1 if the golden was refused, and fails if muster reported anything untrue.
func (d *damaging) check(golden []byte, how string) (refused int) {
	d.Helper()
	d.write("muster.golden", string(golden), 0o644)
	for i := range d.commands {
		switch status, said := d.checked(i); {
		case status == 2:
			refused = 1
		case status != d.status[i]:
			d.Errorf("%s: check %d ended with %d\n%s", how, i, status, said)
		case !maps.Equal(d.folder.verdicts(said), d.verdicts[i]):
			d.Errorf("%s: check %d says\n%s", how, i, said)
		}
	}
	return refused
}

// checked runs one of the checks. With status 2 it must give the reason in one line.
func (d *damaging) checked(i int) (status int, stdout []byte) {
	d.Helper()
	got := d.try(append([]string{"check", "src", "--retries", "0", "--format", "json", "--verbose", "--"}, d.commands[i]...)...)
	var errs []string
	for line := range strings.Lines(string(got.stderr)) {
		if !strings.HasPrefix(line, "warning: ") { // of class environment
			errs = append(errs, line)
		}
	}
	// If the number of the format is damaged, muster reports a golden of a newer muster.
	if got.status == 2 && (len(errs) != 1 || !strings.HasPrefix(errs[0], "muster: ") ||
		!strings.Contains(errs[0], "muster.golden is ") && !strings.Contains(errs[0], "muster.golden has format ")) {
		d.Errorf("status 2 comes with %q, not with one line about muster.golden", errs)
	}
	return got.status, got.stdout
}
