package oracle

import (
	"context"
	"errors"
	"flag"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/forkserver"
	"muster/regress/internal/outcome"
	_ "muster/regress/lane" // this program is the helper
)

// TestForks plays rounds of forks and plain runs, in lanes, with a tool that prints what it learned about
// its source, its folder and its descriptors (testdata/facts.c). Each round is another tool: it looks at
// other things, in another order, before main and later. A fork that counts has the outcome of the
// plain run, so their verdicts are equal.
func TestForks(t *testing.T) {
	p := newForkPlace(t)
	sums := map[string]int{}
	setFlag(t, "rapid.checks", *rounds)
	if *rounds == roundsShare && flag.Lookup("rapid.seed").Value.String() == "0" {
		setFlag(t, "rapid.seed", shareSeed)
	}
	setFlag(t, "rapid.shrinktime", 5*time.Second)
	began := time.Now()
	rapid.Check(t, func(rt *rapid.T) { p.play(rt, sums) })
	t.Logf("forks: %v, %.0f s", sums, time.Since(began).Seconds())
	if sums["forks"] < sums["rounds"] {
		t.Error("most rounds are refused")
	}
}

// forkPlace is a lane and the modelled tool.
type forkPlace struct {
	tool  string
	cases []corpus.Entry
	crew  exec.Executor
}

// sourceTexts are the sources of all rounds. Their sizes differ.
var sourceTexts = map[string]string{"a": "", "b": "b\n", "c": "cc cc\n", "d": strings.Repeat("d", 5000)}

func newForkPlace(t *testing.T) *forkPlace {
	dir := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	p := &forkPlace{tool: filepath.Join(dir, "tool")}
	for _, args := range [][]string{{"-shared", "-fPIC", "-o", dir + "/libfacts.so"}, {"-DPROGRAM", "-o", p.tool, "-L" + dir, "-Wl,-rpath," + dir, "-Wl,--no-as-needed", "-lfacts"}} {
		c := osexec.CommandContext(t.Context(), "cc", append([]string{"-w", "testdata/facts.c"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			skipWithout(t, "cc: "+err.Error()+" "+string(out))
		}
	}
	shim, err := forkserver.Build(t.Context(), dir)
	if errors.As(err, new(*exec.NoServer)) {
		skipWithout(t, err.Error())
	}
	must(err)
	src := filepath.Join(dir, "src")
	must(os.Mkdir(src, 0o755))
	must(os.WriteFile(filepath.Join(src, "HDR_h"), []byte("header\n"), 0o644))
	for name, text := range sourceTexts {
		must(os.WriteFile(filepath.Join(src, name), []byte(text), 0o644))
	}
	c, err := corpus.Open(t.Context(), corpus.Options{Path: src})
	must(err)
	t.Cleanup(func() { must(c.Close()) })
	p.cases = c.Cases()
	helper, err := os.Executable()
	must(err)
	var warned []string
	crew, err := local.Start(t.Context(), local.Options{
		Lanes: 1, Helper: []string{helper}, Corpus: c, Timeout: time.Minute, Grace: time.Second, OutputMax: 1 << 20, Shim: shim,
		Warn: func(s string) { warned = append(warned, s) },
	})
	must(err)
	t.Cleanup(func() { must(crew.Close()) })
	if strings.Contains(strings.Join(warned, "\n"), local.WithoutNamespaces) {
		skipWithout(t, warned[0])
	}
	p.crew = crew
	return p
}

func skipWithout(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// play runs some cases as forks of one server, and plainly.
func (p *forkPlace) play(rt *rapid.T, sums map[string]int) {
	const (
		early = "lxashdet0GSDzimuUFcpqfLgnEb2PyyuU" // where the server may still run
		main  = "slxaA0GSzyiPmrD12dethHuUFpqcfLgnEboRoR"
		end   = "wvjk"
	)
	letters := func(label, from string, most int) string {
		return rapid.StringOfN(rapid.SampledFrom([]rune(from)), 0, most, -1).Draw(rt, label)
	}
	program := letters("before", early, 2) + "|" + letters("constructor", early, 2) + "|" +
		letters("early", early, 4) + letters("become", "X", 1) + letters("main", main, 10) + "|" + letters("end", end, 2)
	words := []string{p.tool, program, "{in}"}
	stdin := rapid.Bool().Draw(rt, "stdin")
	if stdin {
		words = words[:2]
	}
	command, err := exec.Resolve(words, false, stdin)
	if err != nil {
		rt.Fatal(err)
	}
	command.As = "in.txt"
	sums["rounds"]++
	for range rapid.IntRange(2, 5).Draw(rt, "cases") {
		e := rapid.SampledFrom(p.cases).Draw(rt, "case")
		plain := p.run(rt, exec.Job{Source: e, Command: command, Avoid: exec.NoLane})
		fork, refusal := p.try(rt, exec.Job{Source: e, Command: command, Avoid: exec.NoLane, Fork: true})
		if refusal != "" {
			sums["refused"]++
			sums["refused: "+refusal]++
			return
		}
		sums["forks"]++
		if plain != fork {
			rt.Fatalf("program %q, case %s, stdin %t: plainly\n%s\nas a fork\n%s", program, e.Name, stdin, plain, fork)
		}
	}
}

func (p *forkPlace) run(rt *rapid.T, j exec.Job) string {
	text, refusal := p.try(rt, j)
	if refusal != "" {
		rt.Fatal(refusal)
	}
	return text
}

// try returns the outcome of a job, or why it was refused.
func (p *forkPlace) try(rt *rapid.T, j exec.Job) (text, refusal string) {
	r, err := exec.Run(context.Background(), p.crew, j)
	if no := (*exec.NoServer)(nil); errors.As(err, &no) {
		return "", no.Why
	}
	if err != nil {
		rt.Fatal(err)
	}
	defer r.Release()
	text = r.Outcome.Ending.String()
	for _, part := range r.Outcome.Parts {
		text += "\n" + part.Key.String() + " " + part.Digest.String()
		if part.Place == outcome.File {
			continue
		}
		f, err := r.Open(part)
		if err != nil {
			rt.Fatal(err)
		}
		b := make([]byte, part.Size)
		_, _ = f.Read(b)
		_ = f.Close()
		text += " " + string(b)
	}
	return text, ""
}
