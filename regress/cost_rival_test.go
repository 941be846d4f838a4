package regress

import (
	"strings"
	"testing"

	"muster/regress/internal/crew"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// What an engine's workers took is no measure, whether all of a golden is theirs or what was
// accepted into it.
func TestRivalOfWorkers(t *testing.T) {
	recorded := golden.Meta{Command: []golden.Command{{Args: []string{"cc"}}}, Executable: "/gone/cc", ExecutableDigest: outcome.Of(nil)}
	there, mixed := recorded, recorded
	there.Preflight, mixed.FromEngine = outcome.Of(nil), true
	for want, m := range map[string]golden.Meta{"is gone": recorded, "on an engine": there, "took on an engine": mixed} {
		r := costRival(m, &crew.Commands{}, nil)
		if r.command != nil || r.there == (want == "is gone") || !strings.Contains(r.why, want) {
			t.Errorf("want %q: %+v", want, r)
		}
	}
}
