package job

import (
	"maps"
	"os"
	"path/filepath"
	"strings"

	"muster/regress"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
)

// Commands lists the commands as a golden keeps them.
func Commands(c *regress.Command) (list []golden.Command) {
	if len(c.Words) > 0 {
		list = append(list, golden.Command{Args: c.Words})
	}
	for _, g := range c.ByGlob {
		list = append(list, golden.Command{Glob: g.Glob, Args: g.Words})
	}
	return list
}

// SameStart reports whether two commands with their settings are equal. What only identifies
// the tool does not count.
func SameStart(was, is []golden.Command, wasFlags, isFlags map[string]string) bool {
	for _, s := range OutcomeSettings() {
		if s.Scope != OfIdentity && wasFlags[s.Name()] != isFlags[s.Name()] {
			return false
		}
	}
	return golden.SameCommands(was, is)
}

// OtherEnvironment returns the flag that gives cases another environment, "" if they have the same one. The order of its
// values does not count.
func OtherEnvironment(was, is map[string]string) string {
	for _, flag := range []string{"--env", "--pass-env"} {
		if !maps.Equal(variables(was[flag]), variables(is[flag])) {
			return flag
		}
	}
	return ""
}

// variables returns what a kept --env or --pass-env sets. The last value of a variable counts.
func variables(text string) map[string]string {
	set := map[string]string{}
	for _, one := range unquote(text) {
		key, value, _ := strings.Cut(one, "=")
		set[key] = value
	}
	return set
}

// IsOtherCorpus reports whether a plain check of the golden reads another corpus than o has.
func IsOtherCorpus(m golden.Meta, o *regress.Options) bool {
	if m.CorpusPath == "" || m.CorpusPath == o.Corpus.Path {
		return false
	}
	was, err := filepath.Abs(m.CorpusPath)
	is, e := filepath.Abs(o.Corpus.Path)
	return err != nil || e != nil || was != is
}

// GreenLine returns the shell line of a check that runs what an accept took its outcomes from.
// checked are the options of the run or check that it is printed for.
func GreenLine(m golden.Meta, by golden.Accept, checked *regress.Options) string {
	var o regress.Options
	for _, c := range by.Command {
		if c.Glob != "" {
			return "muster check with the [[commands]] of run " + by.Run
		}
		o.Command.Words = c.Args
	}
	plain := regress.Options{Command: regress.Command{Words: o.Command.Words}}
	TakeRecorded(&plain, m)
	args := []string{"muster", "check"}
	if IsOtherCorpus(m, checked) {
		args = append(args, checked.Corpus.Path)
	}
	if path := checked.Store.Golden; path != regress.GoldenDefault {
		args = append(args, "--golden", path)
	}
	for _, s := range OutcomeSettings() {
		if s.Complete(&o, by.Flags[s.Name()]); s.Text(&o) != s.Text(&plain) {
			args = append(args, s.Args(&o)...)
		}
	}
	if !golden.SameCommands(m.Command, by.Command) {
		args = append(append(args, "--"), o.Command.Words...)
	}
	return name.QuoteAll(args)
}

// CommandLine returns the command as a user would type it, or several commands with their globs.
func CommandLine(c *regress.Command) string {
	lines := []string{}
	for _, g := range c.ByGlob {
		lines = append(lines, g.Glob+": "+name.QuoteAll(g.Words))
	}
	if len(c.Words) > 0 {
		lines = append(lines, name.QuoteAll(c.Words))
	}
	return strings.Join(lines, "; ")
}

// WordsFor returns the words of the command for a case.
func WordsFor(c *regress.Command, name string) []string {
	for _, g := range c.ByGlob {
		if ok, err := glob.Match(g.Glob, name); err == nil && ok {
			return g.Words
		}
	}
	return c.Words
}

// Environment returns what --env and --pass-env add.
func Environment(c *regress.Command) []string {
	var env []string
	for _, key := range c.PassEnv {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	return append(env, c.Env...)
}
