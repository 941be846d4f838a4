package crew

import (
	"slices"
	"testing"

	"muster/regress/internal/exec"
)

// An engine that does not give back whole folders is asked for names. Not all files that come count.
func TestOutputs(t *testing.T) {
	for _, c := range []struct{ pattern, caseName, wanted, counts, not string }{
		{"{stem}.s", "a/x.c", "a/x.s", "a/x.s", "x.s"},
		{"./out.bin", "a/x.c", "out.bin", "out.bin", "out"},
		{"gen", "a/x.c", "gen", "gen/a/b", "gen2"},
		{"out/**", "a/x.c", "out", "out/a/b", "x"},
		{"out/*.o", "a/x.c", "out", "out/x.o", "out/x.d"},
		{"out/*.o", "a/x.c", "out", "out/y.o", "out/a/x.o"},
		{"./out/{a,b}/*.o", "a/x.c", "out", "out/b/x.o", "out/c/x.o"},
		{"{dir}/gen/{name}.*", "a/x.c", "a/gen", "a/gen/x.c.s", "a/gen/y.c.s"},
		{"{dir}/gen/*", "x.c", "gen", "gen/y", "y"},
		{"{out}", "a[1]*.c", "a[1]*.c.out", "a[1]*.c.out", "a1.c.out"},
		{"{out}", "-x.c", "-x.c.out", "-x.c.out", "x.c.out"},
		{"out/{stem}*", `a[1]{b,c}\?*.c`, "out", `out/a[1]{b,c}\?*.s`, "out/a1b0.s"},
		{"{stem}/*.o", `a[1]*.c`, "a[1]*", "a[1]*/x.o", "a1/x.o"},
	} {
		o := outputs{patterns: []string{c.pattern}}
		names, counts := o.of(jobOf(c.caseName))
		if !slices.Equal(names, []string{c.wanted}) || !counts(c.counts) || counts(c.not) {
			t.Errorf("%s of %s: %q is asked for; %s counts: %t, %s: %t", c.pattern, c.caseName, names, c.counts, counts(c.counts), c.not, counts(c.not))
		}
	}
	for _, pattern := range []string{"*.s", "**/x", "./*.s", "{a,b}/*.s", "{dir}/*.s"} {
		if got, _, err := splitPattern(pattern, "x"); err == nil {
			t.Errorf("%s asks for %q", pattern, got)
		}
	}
	// Files that the golden knows count, too, also when one has become a folder.
	o := outputs{patterns: []string{"out/*.o"}, left: func(string) []string { return []string{"out/x.d", "log"} }}
	names, counts := o.of(jobOf("x.c"))
	if !slices.Equal(names, []string{"out", "out/x.d", "log"}) || !counts("out/x.d") || !counts("log/1") || counts("out/y.d") {
		t.Errorf("%q are asked for", names)
	}
}

func jobOf(caseName string) (job exec.Job) {
	job.Source.Name = caseName
	return job
}
