// Package oracle plays rounds of record, check, resume and accept with modelled tools whose true verdicts are
// known, and rounds of forks and plain runs. It only has tests.
//
// Its mutations show that the oracle notices a break of each promise. A mutation is a statement at the beginning
// of a function. One build has all of them behind switches, by an overlay that the program never has.
package oracle

import (
	"flag"
	"fmt"
	"muster/regress"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// roundsShare is how many rounds every run of the tests makes. They are the same rounds each
// time: what a long run finds must not fail a change that has no part in it.
const (
	roundsShare = 250
	shareSeed   = 18
)

var rounds = flag.Int("rounds", roundsShare, "how many rounds TestOracle plays")

// TestOracle plays rounds of record, check and accept with modelled tools whose true verdicts
// are known. A failing round prints its scenario, made small, and how to play it again
// (-rapid.failfile, -rapid.seed).
func TestOracle(t *testing.T) {
	p := newPlace(t)
	sums := &tally{}
	setFlag(t, "rapid.checks", *rounds)
	if *rounds == roundsShare && flag.Lookup("rapid.seed").Value.String() == "0" {
		setFlag(t, "rapid.seed", shareSeed)
	}
	began := time.Now()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRound(rt, p, sums)
		if rapid.IntRange(0, 9).Draw(rt, "linters") == 9 {
			r.runLinters()
			return
		}
		r.run()
	})
	t.Logf("oracle: %s", sums.line(time.Since(began)))
}

func setFlag(t *testing.T, name string, value any) {
	t.Helper()
	if err := flag.Set(name, fmt.Sprint(value)); err != nil {
		t.Fatal(err)
	}
}

// line is what bench/results keeps of the oracle.
func (s *tally) line(took time.Duration) string {
	var by []string
	for _, v := range regress.AllVerdicts() {
		by = append(by, fmt.Sprintf("%s %d", v.Key(), s.verdicts[v]))
	}
	return fmt.Sprintf("%d rounds, %d commands, %d cases judged (%s), %d accepted, %d resumes of which %d refused, %.0f s",
		s.rounds, s.attempts, s.judged, strings.Join(by, ", "), s.accepted, s.resumed, s.refused, took.Seconds())
}
