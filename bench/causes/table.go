package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// real measures the pairs of real tools.
func (b *bench) real(ctx context.Context) error {
	t, err := b.find(ctx)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(pairs(t), func(p pair) bool { return !slices.Contains(b.only, p.name) })
	if len(chosen) > 0 && b.judge == 0 {
		fmt.Fprint(b.out, "\n| pair | cases | differ | changed lines | distinct diffs | causes | families | five settle | limit | | s | CPU s | MB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	}
	for _, p := range chosen {
		if missing := p.missing(); len(missing) > 0 {
			fmt.Fprintf(b.out, "| %s | left out: no %s | | | | | | | | | | |\n", p.name, strings.Join(missing, ", "))
			continue
		}
		if err := b.pair(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// pair measures one pair.
func (b *bench) pair(ctx context.Context, p pair) error {
	w := &place{bench: b, dir: filepath.Join(b.dir, p.name)}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(w.dir)
	w.archive, w.golden = filepath.Join(w.dir, "corpus.tar"), filepath.Join(w.dir, "old.golden")
	sources, err := p.corpus()
	if err != nil {
		return err
	}
	if err := pack(w.archive, sources); err != nil {
		return err
	}
	usual := p.sample
	if usual == 0 {
		usual = len(sources)
	}
	if n := int(float64(usual) * b.share); n > 0 && n < len(sources) {
		w.flags = append(w.flags, "--sample", strconv.Itoa(n))
	}
	if p.stdin {
		w.flags = append(w.flags, "--stdin")
	}
	began := time.Now()
	if err := w.record(ctx, p.old); err != nil {
		return err
	}
	c, err := w.check(ctx, "new", p.now, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: both versions ran in %.0f s\n", p.name, time.Since(began).Seconds())
	files, err := w.export(ctx, c)
	if err != nil {
		return err
	}
	if b.judge > 0 {
		return b.sample(p, c, files)
	}
	d, err := files.diff(c.found.members)
	if err != nil {
		return err
	}
	b.row(p, c, d)
	return nil
}

func (b *bench) row(p pair, c compared, d plain) {
	name, most, counted := p.name+" "+p.versions, p.most, len(c.found.causes)
	if p.changes > 0 {
		most = 2*p.changes + 2
	}
	limit := fmt.Sprintf("≤ %d causes", most)
	if p.untuned {
		name += " (never tuned on)"
	}
	if p.families {
		limit, counted = fmt.Sprintf("≤ %d families", most), c.families
	}
	met := verdict(counted <= most && !c.found.rewritten)
	if most == 0 {
		limit, met = "not judged", ""
	}
	causes := strconv.Itoa(len(c.found.causes))
	if c.found.rewritten {
		causes += ", rewritten"
	}
	fmt.Fprintf(b.out, "| %s | %d | %d | %d | %d | %s | %d | %.0f %% | %s | %s | %.2f | %.2f | %.0f |\n", name, c.cases, c.differing, d.lines, d.distinct, causes,
		c.families, 100*c.found.settledBy(5), limit, met, c.wall.Seconds(), c.cpu.Seconds(), float64(c.peak)/1e6)
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}
