package run

import (
	"muster/regress"
	"testing"
)

// TestTokenOfEngine: the engine gets its own token only. MUSTER_TOKEN is for the server with a
// team's files.
func TestTokenOfEngine(t *testing.T) {
	if p := newEndpoint(&regress.Options{}); p.Token != "" || p.PlainToken {
		t.Errorf("the engine gets %q", p.Token)
	}
	if p := newEndpoint(&regress.Options{Remote: regress.Remote{Token: "engine"}}); p.Token != "engine" || p.PlainToken {
		t.Errorf("the engine gets %q", p.Token)
	}
}
