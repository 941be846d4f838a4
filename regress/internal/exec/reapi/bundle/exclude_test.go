package bundle_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/bundle"
)

// What muster itself writes does not travel in a folder that holds it.
func TestOwnFilesStay(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"kit/cc", "kit/.muster/lock", "kit/sub/a.golden"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := bundle.Make(t.Context(), bundle.Options{
		Inputs: []string{"kit"}, Exclude: []string{"kit/.muster", "kit/sub/a.golden", "elsewhere/none"}, Command: &exec.Command{Words: []string{"/bin/cc"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := travels(t, b); len(all) != 1 || all[0].path != "tool/in/kit/cc" {
		t.Errorf("%v", all)
	}
}
