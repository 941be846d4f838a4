package plainfiles

import (
	"os"
	"path/filepath"
	"testing"

	"muster/regress"
	"muster/regress/internal/golden"
)

// FuzzImport imports exports with arbitrary JSON files. Each is refused as input and leaves
// nothing, or becomes a golden that can be exported, written only in the named folder.
func FuzzImport(f *testing.F) {
	b := bag{}
	model := export(f, build(f, exampleMeta, b, example(b)[0]))
	files := tree(f, model)
	one := []byte(files["a.case/outcome.json"])
	f.Add([]byte(files[goldenFile]), one)
	f.Add([]byte(`{"format": 2, "flags": {"%2e": "../x"}}`), one)
	f.Add([]byte(files[goldenFile]), []byte(`{"name": "../a", "ending": "exited", "code": 0, "parts": []}`))
	f.Add([]byte(files[goldenFile]), one[:len(one)/2])
	f.Fuzz(func(t *testing.T, all, outcome []byte) {
		dir := t.TempDir()
		from, to, back := filepath.Join(dir, "from"), filepath.Join(dir, "to"), filepath.Join(dir, "back")
		if err := os.CopyFS(from, os.DirFS(model)); err != nil {
			t.Fatal(err)
		}
		for at, text := range map[string][]byte{goldenFile: all, "a.case/outcome.json": outcome} {
			if err := os.WriteFile(filepath.Join(from, at), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		there := []string{"from"}
		err := Import(t.Context(), from, to, golden.Meta{})
		switch {
		case err == nil:
			if err := exportTo(to, back); err != nil {
				t.Errorf("what was taken cannot be exported: %v", err)
			}
			there = []string{"back", "from", "to"}
		case regress.ClassOf(err) != regress.Input:
			t.Errorf("class %v: %v", regress.ClassOf(err), err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != len(there) {
			t.Errorf("%v is there, not %v: %v", entries, there, err)
		}
	})
}
