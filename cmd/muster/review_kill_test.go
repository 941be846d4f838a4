package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// A gate holds the requests that change a golden once it is shut.
type gate struct {
	before, after atomic.Bool // hold them before the server has them, or before it answers
	reached       chan struct{}
	pass          chan struct{}
}

func (g *gate) between(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stop := func(here *atomic.Bool) {
			if r.Method == http.MethodPut && here.CompareAndSwap(true, false) {
				g.reached <- struct{}{}
				<-g.pass
			}
		}
		if stop(&g.before); r.Context().Err() == nil {
			next.ServeHTTP(w, r)
		}
		stop(&g.after)
	})
}

// A browsing is a review in a browser, driven by requests.
type browsing struct {
	team
	cmd         *exec.Cmd
	origin, key string
}

func (m team) browse() *browsing {
	m.Helper()
	v := &browsing{team: m, cmd: exec.CommandContext(m.Context(), m.bin+"/muster", "review", "--web")}
	v.cmd.Dir = m.dir
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		m.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		m.Fatal(err)
	}
	m.Cleanup(v.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() && v.origin == "" {
		if text := strings.TrimSpace(lines.Text()); strings.HasPrefix(text, "http://") {
			var token string
			v.origin, token, _ = strings.Cut(text, "/#")
			answer := v.ask(http.MethodPost, "/session", map[string]string{"token": token})
			v.key, _ = answer["key"].(string)
			v.ask(http.MethodPost, "/take", map[string]bool{"over": false})
			break
		}
	}
	return v
}

func (v *browsing) kill() {
	_ = v.cmd.Process.Kill() // it may have been killed already
	_ = v.cmd.Wait()
}

// ask sends a request like the page does. A killed review does not answer.
func (v *browsing) ask(method, path string, body any) (answer map[string]any) {
	v.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		v.Fatal(err)
	}
	r, err := http.NewRequestWithContext(v.Context(), method, v.origin+path, strings.NewReader(string(text)))
	if err != nil {
		v.Fatal(err)
	}
	r.Header.Set("Muster-Key", v.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Muster-Page", "test")
	r.Header.Set("Origin", v.origin)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer got.Body.Close()
	said, _ := io.ReadAll(got.Body)
	if err := json.Unmarshal(said, &answer); err != nil || got.StatusCode != http.StatusOK {
		v.Fatalf("%s %s: %d %s", method, path, got.StatusCode, said)
	}
	return answer
}

// A review and an accept are killed between writing the decisions and the golden, and between
// the golden and the marks of its cases. Nothing is lost, nothing is done twice, and the next
// review shows the true state. The golden is at an address, where both writes can be held up.
func TestKilledWhileAccepting(t *testing.T) {
	g := &gate{reached: make(chan struct{}), pass: make(chan struct{})}
	m := newTeam(t, g.between)
	t.Cleanup(func() { close(g.pass) }) // before the server ends
	m.write("src/c", "ll;\n", 0o644)
	m.wants(0, "record", "src", "--golden", m.golden, "--", "cat")
	check := []string{"check", "src", "--golden", m.golden, "--", "sed", "-e", "s/^a/A/", "-e", "s/ll/LL/", "{in}"}
	m.wants(1, check...)
	accept := map[string]any{"do": "accept", "item": "G1"}

	// After the decisions: they are written, and the golden is unchanged.
	v := m.browse()
	state := v.ask(http.MethodPost, "/act", accept)["state"].(map[string]any)
	g.before.Store(true)
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		<-g.reached
		v.kill()
	}()
	v.ask(http.MethodPost, "/commit", map[string]any{"revision": state["revision"]})
	<-killed
	if said := m.wants(0, "groups"); !strings.Contains(said, "(accepted)\n") || !strings.Contains(said, "1 accepted case is not in the golden yet: muster review, or muster accept G1, puts it there") {
		t.Error(said)
	}
	v = m.browse()
	state = v.ask(http.MethodPost, "/state", struct{}{})
	if state["pending"] != 0.0 || state["ready"] != 1.0 || state["promoted"] != 0.0 {
		t.Errorf("after the kill: %v", state)
	}
	v.ask(http.MethodPost, "/commit", map[string]any{"revision": state["revision"]})
	v.kill()
	if said := m.wants(0, "groups"); strings.Contains(said, "not in the golden yet") {
		t.Error(said)
	}

	// The same with accept.
	acceptKilled := func() {
		c := exec.CommandContext(t.Context(), m.bin+"/muster", "accept", "G2")
		c.Dir = m.dir
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-g.reached
		_ = c.Process.Kill() // it waits for an answer
		_ = c.Wait()
	}
	g.before.Store(true)
	acceptKilled()
	if said := m.wants(0, "groups"); strings.Count(said, "(accepted)\n") != 2 || !strings.Contains(said, "1 accepted case is not in the golden yet") {
		t.Error(said)
	}

	// After the golden: it has the other case, but no mark says so.
	g.after.Store(true)
	acceptKilled()
	v = m.browse()
	state = v.ask(http.MethodPost, "/state", struct{}{})
	if state["states"] != "aa" || state["ready"] != 0.0 || state["promoted"] != 2.0 {
		t.Errorf("after the kill: %v", state)
	}
	v.kill()
	if said := m.wants(0, "accept", "G2"); !strings.Contains(said, "accepted 0 of run ") {
		t.Error(said)
	}
	if said := m.wants(0, "groups"); strings.Count(said, "(accepted)\n") != 2 || strings.Contains(said, "not in the golden yet") {
		t.Error(said)
	}
	m.wants(0, check...)
}
