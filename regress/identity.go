package regress

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
)

// identity says what must be the same to go on with an interrupted run, in
// words that an error can use.
func (s *session) identity(ctx context.Context) (map[string]string, error) {
	digest, err := s.corpus.Digest(ctx)
	if err != nil {
		return nil, err
	}
	id := map[string]string{"the corpus": digest.String()}
	s.command.identify(id)
	maps.Copy(id, s.o.flags())
	return id, nil
}

func (c *command) identify(id map[string]string) {
	if c.main != nil {
		identify("the command", c.main, id)
	}
	for i, g := range c.byGlob {
		what := "the command for " + g.glob
		identify(what, g.command, id)
		id[what+", its place"] = fmt.Sprint(i)
	}
}

func identify(what string, c *exec.Command, id map[string]string) {
	id[what] = fmt.Sprintf("%q", c.Words)
	id[what+"'s executable"] = c.Path + " " + c.Digest.String()
}

// flags names the settings that change outcomes or the choice of cases.
func (o *Options) flags() map[string]string {
	f := map[string]string{}
	set := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "[]" && text != "0" && text != "false" && text != "0s" {
			f["--"+name] = text
		}
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			set(name, fmt.Sprintf("%q", values))
		}
	}
	list("headers", o.Corpus.Headers)
	list("context", o.Corpus.Context)
	list("env", o.Command.Env)
	list("pass-env", o.Command.PassEnv)
	list("cases", o.Select.Globs)
	list("filter", o.Select.Filters)
	list("normalize", o.Judge.Normalize)
	set("shell", o.Command.Shell)
	set("stdin", o.Command.Stdin)
	set("partition", o.Select.Partition)
	set("sample", o.Select.Sample)
	set("timeout", o.Limits.Timeout)
	set("memory", o.Limits.Memory)
	set("output-max", o.Limits.OutputMax)
	return f
}

// differsIn returns the first thing, by name, in which two identities differ.
func differsIn(a, b map[string]string) string {
	keys := slices.Sorted(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if a[key] != b[key] {
			return key
		}
	}
	return ""
}

// meta is what a golden tells about how it was made.
func (s *session) meta(ctx context.Context) (golden.Meta, error) {
	digest, err := s.corpus.Digest(ctx)
	if err != nil {
		return golden.Meta{}, err
	}
	m := golden.Meta{
		Corpus: digest, Env: s.o.Command.Env, Machine: machine(), MusterVersion: s.o.Versions,
		Created: s.began, Repeat: s.o.Judge.Repeat, Flags: s.o.flags(),
	}
	if c := s.command.main; c != nil {
		m.Command = append(m.Command, golden.Command{Args: c.Words})
		m.Executable, m.ExecutableDigest = c.Path, c.Digest
	}
	for _, g := range s.byGlob {
		m.Command = append(m.Command, golden.Command{Glob: g.glob, Args: g.command.Words})
	}
	return m, nil
}

func machine() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s %s/%s %d CPUs", host, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}
