package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// A section of a help text has the flags on one subject, by their names.
type section struct {
	title string
	flags []string
}

// sections lists the subjects of commands that run cases.
func sections() []section {
	return []section{
		{"What runs", []string{
			"headers", "context", "shell", "stdin", "env", "pass-env", "no-network", "tool-file", "no-tool-file", "observe", "timeout", "grace",
			"memory", "output-max", "jobs", "ref", "new",
		}},
		{"Which cases", []string{"cases", "filter", "partition", "sample", "all-cases", "failed-first", "fail-fast", "resume"}},
		{"How they are judged", []string{
			"normalize", "ignore", "repeat", "repeat-after", "runs", "retries", "allow", "allow-failures", "strict", "same-corpus", "fail-on", "cost-cases",
		}},
		{"Reports", []string{"format", "quiet", "verbose", "color", "junit", "html", "markdown", "events"}},
		{"On a Remote Execution engine", []string{
			"remote", "instance", "remote-header", "remote-input", "remote-bundle", "remote-output", "remote-jobs", "remote-wait",
			"remote-fallback", "remote-priority", "platform", "preflight", "tls-ca", "tls-cert", "tls-key",
		}},
	}
}

// flagUsages returns the flags of a command for its help text.
func flagUsages(all *pflag.FlagSet) string {
	text := &strings.Builder{}
	write := func(title string, has func(name string) bool) {
		some := pflag.NewFlagSet("", pflag.ContinueOnError)
		all.VisitAll(func(f *pflag.Flag) {
			if has(f.Name) {
				shown := *f
				shown.NoOptDefVal = "" // else pflag adds [="VALUE"]; the usage has that in words
				some.AddFlag(&shown)
			}
		})
		if some.HasAvailableFlags() {
			text.WriteString(title + ":\n" + strings.TrimRight(some.FlagUsages(), " \n") + "\n\n")
		}
	}
	inSection := func(string) bool { return false }
	if all.Lookup("headers") != nil { // the command runs cases
		for _, s := range sections() {
			write(s.title, func(name string) bool { return slices.Contains(s.flags, name) })
		}
		inSection = func(name string) bool {
			return slices.ContainsFunc(sections(), func(s section) bool { return slices.Contains(s.flags, name) })
		}
	}
	title := "Flags"
	if text.Len() > 0 {
		title = "Others"
	}
	write(title, func(name string) bool { return !inSection(name) })
	return strings.TrimRight(text.String(), "\n")
}
