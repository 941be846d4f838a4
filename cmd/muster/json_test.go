package main_test

import (
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// measured is what no two runs have in common in JSON lines, the numbers of causes,
// of which those with as many cases are in an order of their own, and paths.
var measured = regexp.MustCompile(`"(cpu_ms|wall_ms|own_cpu_ms|expected_ms|peak_rss_kib|cores_busy)":[0-9.]+|"(run|started|at)":"[^"]+"|"causes":\[".*?\]|"tool_changed":\[".*?\]|"cost":{[^}]*}`)

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
	if got, want := masked(ts.ReadFile(args[0])), masked(ts.ReadFile(args[1])); got != want {
		ts.Fatalf("%s is not %s, with ~ for figures, but\n%s", args[0], args[1], got)
	}
}
