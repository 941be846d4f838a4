package bundle_test

import (
	"os"
	"slices"
	"testing"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/bundle"
)

// A case that is called as an input is still the case: its name is no path of an input.
func TestCaseNamesAreNotMoved(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("inc", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	there := "../tool/in/inc"
	for _, c := range []struct {
		command exec.Command
		want    []string
	}{
		{exec.Command{Words: []string{"/bin/cc", "-Iinc", "-o{stem}.o"}}, []string{"/bin/cc", "-I" + there, "-oinc/x.o"}},
		{exec.Command{Words: []string{"/bin/cc", "-I./inc", "./inc/x", "../inc", "a/./inc"}}, []string{"/bin/cc", "-I" + there, there + "/x", "../inc", "a/./inc", "inc/x.c"}},
		{exec.Command{Words: []string{"cc", "<./inc|./inc", "`inc`", ">{in}"}, Shell: true}, []string{"/bin/sh", "-c", "cc <" + there + "|" + there + " `" + there + "` >inc/x.c"}},
		{exec.Command{Words: []string{"cc", "./inc", "{in}"}, Shell: true}, []string{"/bin/sh", "-c", "cc " + there + " inc/x.c"}},
		{exec.Command{Words: []string{"/bin/cc", "inc"}}, []string{"/bin/cc", there, "inc/x.c"}},
		{exec.Command{Words: []string{"cc", "inc", "<{in}"}, Shell: true}, []string{"/bin/sh", "-c", "cc " + there + " <inc/x.c"}},
	} {
		c.command.Path = c.command.Words[0]
		b, err := bundle.Make(t.Context(), bundle.Options{Inputs: []string{"./inc"}, Command: &c.command})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.CaseArgs(&c.command, "inc/x.c"); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.command.Words, got)
		}
	}
}
