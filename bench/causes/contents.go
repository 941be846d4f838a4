package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// contents are the folders with the outputs of both versions as plain files.
type contents struct{ old, now string }

// export writes both goldens as plain files.
func (p *place) export(ctx context.Context, c compared) (contents, error) {
	e := contents{c.old + ".files", c.now + ".files"}
	for _, side := range [][2]string{{c.old, e.old}, {c.now, e.now}} {
		if _, err := p.run(ctx, io.Discard, "export", "--golden", side[0], "--state", filepath.Join(p.dir, "exported"), side[1]); err != nil {
			return e, err
		}
	}
	return e, nil
}

// of returns both sides of a part of a case.
func (c contents) of(name string, p part) (old, now []byte, err error) {
	path := map[int]string{0: "stdout", 1: "stderr", 2: filepath.Join("files", p.path)}[p.place]
	if old, err = os.ReadFile(filepath.Join(c.old, name+".case", path)); err != nil {
		return nil, nil, err
	}
	now, err = os.ReadFile(filepath.Join(c.now, name+".case", path))
	return old, now, err
}

// plain is the result of a line-by-line diff of each case.
type plain struct {
	distinct int // different diffs: the removed and added lines, wherever they are
	lines    int // lines that only the new outputs have, or the reverse if more vanished
}

func (c contents) diff(members []member) (d plain, err error) {
	seen := map[[sha256.Size]byte]bool{}
	for _, m := range members {
		old, err := readCase(filepath.Join(c.old, m.name+".case"))
		if err != nil {
			return d, err
		}
		now, err := readCase(filepath.Join(c.now, m.name+".case"))
		if err != nil {
			return d, err
		}
		text, lines := changed(old, now)
		seen[sha256.Sum256(text)] = true
		d.lines += lines
	}
	d.distinct = len(seen)
	return d, nil
}

// readCase returns the files of a case and its ending.
func readCase(dir string) (files map[string]string, err error) {
	files = map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if name == "outcome.json" {
			var o struct{ Ending json.RawMessage }
			err = json.Unmarshal(text, &o)
			text = o.Ending
		}
		files[name] = string(text)
		return err
	})
	return files, err
}

// changed returns the lines that differ, and their number.
func changed(old, now map[string]string) (text []byte, lines int) {
	names := maps.Clone(old)
	maps.Copy(names, now)
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if old[name] == now[name] {
			continue
		}
		unified, _ := udiff.ToUnified("", "", old[name], udiff.Lines(old[name], now[name]), 0)
		out.WriteString(filepath.Base(name) + "\n") // a file may be named after its case
		unified = strings.TrimPrefix(unified, "--- \n+++ \n")
		var marks [2]int
		for line := range strings.Lines(unified) {
			switch {
			case strings.HasPrefix(line, "@@"):
				continue
			case line[0] == '-':
				marks[0]++
			case line[0] == '+':
				marks[1]++
			}
			out.WriteString(line)
		}
		lines += max(marks[0], marks[1])
	}
	return out.Bytes(), lines
}
