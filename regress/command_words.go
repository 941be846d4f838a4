package regress

import (
	"bytes"
	"fmt"
	"muster/regress/internal/opt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// commandsIn lists the commands as a golden keeps them.
func commandsIn(c *opt.Command) (list []golden.Command) {
	if len(c.Words) > 0 {
		list = append(list, golden.Command{Args: c.Words})
	}
	for _, g := range c.ByGlob {
		list = append(list, golden.Command{Glob: g.Glob, Args: g.Words})
	}
	return list
}

// sameStart reports whether two commands with their settings are equal. What only identifies
// the tool does not count.
func sameStart(was, is []golden.Command, wasFlags, isFlags map[string]string) bool {
	for _, s := range outcomeSettings() {
		if s.scope != ofIdentity && wasFlags[s.name()] != isFlags[s.name()] {
			return false
		}
	}
	return golden.SameCommands(was, is)
}

// isOtherCorpus reports whether a plain check of the golden reads another corpus than o has.
func isOtherCorpus(m golden.Meta, o *opt.Options) bool {
	if m.CorpusPath == "" || m.CorpusPath == o.Corpus.Path {
		return false
	}
	was, err := filepath.Abs(m.CorpusPath)
	is, e := filepath.Abs(o.Corpus.Path)
	return err != nil || e != nil || was != is
}

// greenLine returns the shell line of a check that runs what an accept took its outcomes from.
// checked are the options of the run or check that it is printed for.
func greenLine(m golden.Meta, by golden.Accept, checked *opt.Options) string {
	var o opt.Options
	for _, c := range by.Command {
		if c.Glob != "" {
			return "muster check with the [[commands]] of run " + by.Run
		}
		o.Command.Words = c.Args
	}
	plain := opt.Options{Command: opt.Command{Words: o.Command.Words}}
	completeAsRecorded(&plain, m)
	args := []string{"muster", "check"}
	if isOtherCorpus(m, checked) {
		args = append(args, checked.Corpus.Path)
	}
	if path := checked.Store.Golden; path != opt.GoldenDefault {
		args = append(args, "--golden", path)
	}
	for _, s := range outcomeSettings() {
		if s.complete(&o, by.Flags[s.name()]); len(by.Flags) > 0 && s.text(&o) != s.text(&plain) {
			args = append(args, s.args(&o)...)
		}
	}
	if !golden.SameCommands(m.Command, by.Command) {
		args = append(append(args, "--"), o.Command.Words...)
	}
	return name.QuoteAll(args)
}

// allFlags returns the settings that change outcomes or the choice of cases, by name.
func allFlags(o *opt.Options) map[string]string {
	f := outcomeFlags(o)
	for name, list := range map[string][]string{"--cases": o.Select.Globs, "--filter": o.Select.Filters} {
		if len(list) > 0 {
			f[name] = fmt.Sprintf("%q", list)
		}
	}
	if o.Select.Partition != "" {
		f["--partition"] = o.Select.Partition
	}
	if o.Select.Sample > 0 {
		f["--sample"] = fmt.Sprint(o.Select.Sample)
	}
	if o.Select.AllCases {
		f["--all-cases"] = "true"
	}
	return f
}

// digestPassed returns a digest of the variables that are passed on. Their values may be secrets.
func digestPassed(c *opt.Command) outcome.Digest {
	var b bytes.Buffer
	for _, key := range c.PassEnv {
		value, set := os.LookupEnv(key)
		fmt.Fprintf(&b, "%q %t %q\n", key, set, value)
	}
	return outcome.Of(b.Bytes())
}

func machine() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s %s/%s %d CPUs", host, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// commandLine returns the command as a user would type it, or several commands with their globs.
func commandLine(c *opt.Command) string {
	lines := []string{}
	for _, g := range c.ByGlob {
		lines = append(lines, g.Glob+": "+name.QuoteAll(g.Words))
	}
	if len(c.Words) > 0 {
		lines = append(lines, name.QuoteAll(c.Words))
	}
	return strings.Join(lines, "; ")
}

// wordsFor returns the words of the command for a case.
func wordsFor(c *opt.Command, name string) []string {
	for _, g := range c.ByGlob {
		if ok, err := glob.Match(g.Glob, name); err == nil && ok {
			return g.Words
		}
	}
	return c.Words
}

// caseEnvironment returns what --env and --pass-env add.
func caseEnvironment(c *opt.Command) []string {
	var env []string
	for _, key := range c.PassEnv {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	return append(env, c.Env...)
}
