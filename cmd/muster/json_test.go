package main_test

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// measured matches the parts of JSON lines that differ from run to run: measured values, paths,
// and numbers of causes, because causes with equally many cases have no fixed order.
var measured = regexp.MustCompile(`"(cpu_ms|wall_ms|own_cpu_ms|expected_ms|peak_rss_kib|cores_busy)":[0-9.]+|"(run|started|at)":"[^"]+"|"causes":\[".*?\]|"tool_changed":\[".*?\]|"cost":{[^}]*}|"tool":{[^}]*}`)

func masked(lines string) string {
	return measured.ReplaceAllStringFunc(lines, func(figure string) string {
		key, _, _ := strings.Cut(figure, ":")
		return key + ":~"
	})
}

func cmpjson(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmpjson file1 file2")
	}
	got, want := masked(ts.ReadFile(args[0])), masked(ts.ReadFile(args[1]))
	if !slices.EqualFunc(withoutCauses(got), withoutCauses(want), beginsWith) {
		ts.Fatalf("%s is not %s, with ~ for figures, but\n%s", args[0], args[1], got)
	}
}

// withoutCauses returns the lines that are not about causes.
func withoutCauses(lines string) []string {
	return slices.DeleteFunc(strings.Split(lines, "\n"), func(line string) bool {
		return strings.HasPrefix(line, `{"type":"group",`)
	})
}

// beginsWith reports whether a line begins with the members of another. Scripts rely on these
// keys and their order. Further keys may follow.
func beginsWith(line, other string) bool {
	rest, ok := strings.CutPrefix(line, strings.TrimSuffix(other, "}"))
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ",}"))
}
