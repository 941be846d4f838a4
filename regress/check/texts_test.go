package check

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// An outcome from elsewhere counts only if one complete run could have left it.
func TestIsOfOneRun(t *testing.T) {
	const most = 100
	with := func(parts ...outcome.Part) outcome.Outcome { return outcome.Outcome{Parts: parts} }
	if o := with(outcome.Part{Size: 60}, outcome.Part{Size: 40}); !isOfOneRun(&o, most) {
		t.Error("an outcome as large as the limit is refused")
	}
	for _, o := range []outcome.Outcome{
		with(outcome.Part{Size: 60}, outcome.Part{Size: 41}),
		with(outcome.Part{Size: 1 << 62}, outcome.Part{Size: 1 << 62}, outcome.Part{Size: 1 << 62}),
		with(outcome.Part{Flaky: true}),
		{Ending: regress.Ending{Kind: regress.TimedOut}},
	} {
		if isOfOneRun(&o, most) {
			t.Errorf("%+v is taken", o)
		}
	}
}

// A folder has two paths if a link leads to it, and a host two names.
func TestSignsOfMachine(t *testing.T) {
	real, link := filepath.Join(t.TempDir(), "real"), filepath.Join(t.TempDir(), "link")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	got := bytes.Join(signsOf(link, "ci-7.example.com"), []byte(" "))
	if want := link + " " + real + " ci-7.example.com ci-7"; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := len(signsOf(real, "localhost.localdomain")); n != 3 {
		t.Errorf("%d signs", n)
	}
}
