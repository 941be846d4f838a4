package turns

import (
	"strings"
	"testing"

	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// What an engine's workers took is no measure, whether all of a golden is theirs or what was
// accepted into it.
func TestRivalOfWorkers(t *testing.T) {
	recorded := golden.Meta{Command: []golden.Command{{Args: []string{"cc"}}}, Executable: "/gone/cc", ExecutableDigest: outcome.Of(nil)}
	there, mixed := recorded, recorded
	there.Preflight, mixed.FromEngine = outcome.Of(nil), true
	for want, m := range map[string]golden.Meta{"is gone": recorded, "of an engine, whose": there, "costs of an engine": mixed} {
		r := CostRival(m, Candidate{})
		if r.Command != nil || r.Elsewhere == (want == "is gone") || !strings.Contains(r.Why, want) {
			t.Errorf("want %q: %+v", want, r)
		}
	}
}
