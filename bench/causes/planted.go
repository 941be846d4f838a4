package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"muster/bench/causes/basic"
)

// Limits for planted changes.
const (
	oneTokenMost = 5
	attributed   = 0.995
	analysisMost = 5 * time.Second
	memoryMost   = 600_000_000 // bytes
	largeSize    = 50_000_000  // bytes
	largeMost    = 30 * time.Second
)

// rounds is the number of analyses of the planted changes. The best counts, because the machine may
// do other things meanwhile.
const rounds = 3

// independentMost is how many causes k independent changes may have.
func independentMost(k int) int { return 2*k + 2 }

// planted measures changes of an emitter whose truth is known: the effect of each change alone.
func (b *bench) planted(ctx context.Context) error {
	w, err := b.emitting(ctx, planted)
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.dir)
	if err := w.programs(ctx); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n%d programs, outputs of %d lines, %.0f MB. s and MB: muster diff of both goldens, the best of %d.\n\n", b.sources, w.lines, float64(w.bytes)/1e6, rounds)
	fmt.Fprint(b.out, "| changes | differ | changed lines | distinct diffs | causes | families | limit | | s | CPU s | MB |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	alone := map[basic.Change]found{}
	for _, change := range append(basic.Eight(), basic.Suffix, basic.Comment) {
		c, err := w.change(ctx, oneTokenMost, change)
		if err != nil {
			return err
		}
		alone[change] = c.found
	}
	for _, changes := range [][]basic.Change{basic.Eight(), append(basic.Eight(), basic.Suffix, basic.Comment)} {
		c, err := w.change(ctx, independentMost(len(changes)), changes...)
		if err != nil {
			return err
		}
		var truth []found
		for _, change := range changes {
			truth = append(truth, alone[change])
		}
		w.notes = append(w.notes, attribute(truth, c.found).sentence(changes))
	}
	for _, note := range w.notes {
		fmt.Fprintf(b.out, "\n%s\n", note)
	}
	return nil
}

// emitting is a place where the emitter was built and its usual output recorded.
type emitting struct {
	place
	program      string
	lines, bytes int // of the usual output
	notes        []string
}

// emitting builds the emitter into a folder of that name.
func (b *bench) emitting(ctx context.Context, name string) (*emitting, error) {
	w := &emitting{place: place{bench: b, dir: filepath.Join(b.dir, name)}}
	w.archive, w.golden, w.program = filepath.Join(w.dir, "corpus.tar"), filepath.Join(w.dir, "old.golden"), filepath.Join(w.dir, "emitter")
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", w.program, "./causes/emitter").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the emitter in the folder bench: %w\n%s", err, out)
	}
	return w, nil
}

// command runs the emitter with changes.
func (w *emitting) command(changes ...basic.Change) []string {
	command := []string{w.program, "{in}"}
	for _, c := range changes {
		command = append(command, string(c))
	}
	return command
}

// programs records the usual output of many programs.
func (w *emitting) programs(ctx context.Context) error {
	b := w.bench
	var sources []source
	sizes := rand.New(rand.NewPCG(b.seed, 1))
	for i := range b.sources {
		text := basic.Source(b.seed<<32+uint64(i), basic.Lines(sizes, b.median))
		out := basic.Compile(text)
		w.lines, w.bytes = w.lines+strings.Count(string(out), "\n"), w.bytes+len(out)
		sources = append(sources, source{name: fmt.Sprintf("p%04d.bas", i), text: string(text)})
	}
	if err := pack(w.archive, sources); err != nil {
		return err
	}
	return w.record(ctx, w.command())
}

// change measures an emitter with changes, and prints its row.
func (w *emitting) change(ctx context.Context, most int, changes ...basic.Change) (compared, error) {
	name := string(changes[0])
	if len(changes) > 1 {
		name = fmt.Sprintf("%d at once", len(changes))
	}
	dir := strings.ReplaceAll(name, " ", "-")
	c, err := w.check(ctx, dir, w.command(changes...), rounds)
	if err != nil {
		return c, err
	}
	files, err := w.export(ctx, c)
	if err != nil {
		return c, err
	}
	d, err := files.diff(c.found.members)
	if err != nil {
		return c, err
	}
	met := len(c.found.causes) <= most && !c.found.rewritten && c.wall <= analysisMost && c.peak <= memoryMost
	fmt.Fprintf(w.out, "| %s | %d | %d | %d | %d | %d | ≤ %d causes, %.0f s, %.0f MB | %s | %.2f | %.2f | %.0f |\n", name, c.differing, d.lines, d.distinct,
		len(c.found.causes), c.families, most, analysisMost.Seconds(), float64(memoryMost)/1e6, verdict(met), c.wall.Seconds(), c.cpu.Seconds(), float64(c.peak)/1e6)
	return c, errors.Join(os.RemoveAll(files.old), os.RemoveAll(files.now), os.Remove(c.now))
}

// large measures one case whose output has 50 MB.
func (b *bench) large(ctx context.Context) error {
	w, err := b.emitting(ctx, large)
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.dir)
	const try = 10_000 // lines, to see what a line comes to
	each := len(basic.Compile(basic.Source(b.seed, try))) / try
	program := basic.Source(b.seed, largeSize/each)
	if err := pack(w.archive, []source{{name: "large.bas", text: string(program)}}); err != nil {
		return err
	}
	w.flags = []string{"--timeout", "10m", "--output-max", "1G"}
	if err := w.record(ctx, w.command()); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n| one case of %.0f MB | changed lines by muster | causes | the first is called | limit | | s | CPU s | MB |\n|---|---|---|---|---|---|---|---|---|\n", float64(len(basic.Compile(program)))/1e6)
	for _, changes := range [][]basic.Change{{basic.Suffix}, basic.Eight()} {
		c, err := w.check(ctx, fmt.Sprintf("with%d", len(changes)), w.command(changes...), 1)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "| changes: %d | %d | %d | %s: %s | ≤ %.0f s | %s | %.2f | %.2f | %.0f |\n", len(changes), c.found.lines(), len(c.found.causes),
			c.found.causes[0].Kind, c.found.causes[0].Name, largeMost.Seconds(), verdict(c.wall <= largeMost), c.wall.Seconds(), c.cpu.Seconds(), float64(c.peak)/1e6)
	}
	return nil
}
