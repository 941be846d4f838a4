package decide

import (
	"testing"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
)

// The line has the settings that differ from the golden's.
func TestGreenLine(t *testing.T) {
	m := golden.Meta{
		Command: []golden.Command{{Args: []string{"./old", "{in}"}}}, CorpusPath: "src",
		Flags: map[string]string{"--timeout": "5s", "--env": `["A=1"]`, "--memory": "4096"},
	}
	by := golden.Accept{Run: "r", Command: []golden.Command{{Args: []string{"./new", "{in}"}}}}
	by.Flags = map[string]string{"--timeout": "7s", "--env": `["A=1"]`, "--memory": "4096"}
	o := regress.Options{Corpus: regress.Corpus{Path: "src"}, Store: regress.Store{Golden: regress.GoldenDefault}}
	if got, want := job.GreenLine(m, by, &o), "muster check --timeout 7s -- ./new '{in}'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
