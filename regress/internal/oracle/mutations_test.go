package oracle

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutation is a break of one line that the oracle must notice.
type mutation struct {
	group    string // verdict, resume or identity
	file     string // from this folder
	old, new string // old occurs once in the file
	breaks   string
}

// mutationRounds is how many rounds the oracle has to notice a mutation.
const mutationRounds = 3000

var mutated = flag.String("mutations", "", "break the code by the mutations whose group or effect contains `TEXT`, or all")

// rooms is the folder that the files of mutations are relative to.
const rooms = "../.."

// TestMutations breaks the code in one place after another, and wants the oracle to notice
// each. Without -mutations it only looks whether all mutations still fit the code.
func TestMutations(t *testing.T) {
	for _, m := range mutations {
		text, err := m.apply()
		if err != nil {
			t.Errorf("%s: %v", m.breaks, err)
			continue
		}
		if *mutated == "all" || *mutated != "" && (m.group == *mutated || strings.Contains(m.breaks, *mutated)) {
			t.Run(m.group+"/"+m.breaks, func(t *testing.T) { m.run(t, text) })
		}
	}
}

// apply returns the file with the mutation.
func (m mutation) apply() (string, error) {
	text, err := os.ReadFile(filepath.Join(rooms, m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, not once: change the mutation with the code, or replace it by another", m.file, m.old, n)
	}
	return strings.Replace(string(text), m.old, m.new, 1), nil
}

var (
	noticed = regexp.MustCompile(`failed after (\d+) tests: (.*)`)
	broken  = regexp.MustCompile(`property .* is broken: .*`) // also where it does not happen again
)

// run builds the tests with the mutation and has the oracle look for it.
func (m mutation) run(t *testing.T, text string) {
	dir := t.TempDir()
	program := filepath.Join(dir, "oracle.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-ldflags=-s -w", "-overlay", m.overlay(t, dir, text), "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := exec.CommandContext(t.Context(), program, "-test.run", "TestOracle$", "-test.timeout", "10m",
		"-rounds", fmt.Sprint(mutationRounds), "-rapid.nofailfile", "-rapid.shrinktime", "0s")
	out, err := c.CombinedOutput()
	found := noticed.FindSubmatch(out)
	switch {
	case err == nil:
		t.Errorf("not noticed in %d rounds", mutationRounds)
	case found != nil:
		t.Logf("noticed in round %s: %.200s", found[1], found[2])
	default:
		t.Logf("noticed, %v: %.200s", err, append(broken.Find(out), out...))
	}
}

// overlay writes what makes go build the mutated file in place of the one in the tree.
func (m mutation) overlay(t *testing.T, dir, text string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(rooms, m.file))
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: filepath.Join(dir, "mutated.go")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"mutated.go": text, "overlay.json": string(list)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}
