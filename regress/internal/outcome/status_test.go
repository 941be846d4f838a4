package outcome_test

import (
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// Two readings of one status are settled where an engine told one of them, and nothing else is.
func TestSettle(t *testing.T) {
	exit := func(code int) regress.Ending { return regress.Ending{Code: code} }
	for _, c := range []struct {
		old, now     regress.Ending
		there, here  bool // by status: the old one, the new one
		want         regress.Ending
		wantByStatus bool
	}{
		{exit(139), segv, false, true, exit(139), true},
		{segv, exit(139), true, false, segv, true}, // so it stays when this one goes into the golden
		{segv, exit(139), true, true, segv, true},
		{segv, exit(139), false, false, exit(139), false},
		{exit(139), segv, false, false, segv, false},
		{segv, segv, true, false, segv, false},
		{segv, abort, true, true, abort, true},
		{segv, exit(134), true, true, exit(134), true},
		{ok, exit(139), true, true, exit(139), true},
		{exit(128), regress.Ending{Kind: regress.Signalled}, true, true, regress.Ending{Kind: regress.Signalled}, true},
		{exit(255), regress.Ending{Kind: regress.Signalled, Code: 127}, true, true, regress.Ending{Kind: regress.Signalled, Code: 127}, true},
		{slow, ok, true, true, ok, true},
		{ok, hungry, true, true, hungry, true},
	} {
		old, now := made(c.old), made(c.now)
		old.ByStatus, now.ByStatus = c.there, c.here
		now.Settle(old)
		if now.Ending != c.want || now.ByStatus != c.wantByStatus || old.Ending != c.old {
			t.Errorf("%v → %v: %v, by status: %t", c.old, c.now, now.Ending, now.ByStatus)
		}
	}
}

func TestTwoReadings(t *testing.T) {
	for ending, want := range map[regress.Ending]bool{
		ok: false, failed: false, segv: true, abort: true, slow: false, hungry: false, chatty: false,
		{Code: 128}: false, {Code: 129}: true, {Code: 192}: true, {Code: 193}: false, {Code: 255}: false,
	} {
		if got := outcome.HasTwoReadings(ending); got != want {
			t.Errorf("%v: %t", ending, got)
		}
	}
}
