package regress

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
)

// noGolden words the failure to open a golden.
func noGolden(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("no golden %s: make one with muster record, or name it with --golden", path)
	}
	return err
}

// completeFromGolden fills in what was not given from the golden, if there is
// one, and one is named.
func (o *Options) completeFromGolden() error {
	if o.Store.Golden == "" {
		return nil
	}
	base, err := golden.Open(o.Store.Golden)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	o.asRecorded(base.Meta())
	return base.Close()
}

// asRecorded fills in what was not given from the golden: a plain `muster check`
// does again what was recorded. How the command is started goes with the
// command: another one may not want a shell.
func (o *Options) asRecorded(m golden.Meta) {
	if o.Corpus.Path == "" && m.CorpusPath != "-" {
		o.Corpus.Path = m.CorpusPath
	}
	for flag, values := range map[string]*[]string{
		"--headers": &o.Corpus.Headers, "--context": &o.Corpus.Context,
		"--env": &o.Command.Env, "--pass-env": &o.Command.PassEnv, "--normalize": &o.Judge.Normalize,
	} {
		if *values == nil {
			*values = unquoted(m.Flags[flag])
		}
	}
	o.Limits.asRecorded(m)
	if len(o.Command.Words) > 0 || len(o.Command.ByGlob) > 0 {
		return
	}
	o.Command.Shell = o.Command.Shell || m.Flags["--shell"] != ""
	o.Command.Stdin = o.Command.Stdin || m.Flags["--stdin"] != ""
	for _, c := range m.Command {
		if c.Glob == "" {
			o.Command.Words = slices.Clone(c.Args)
		} else {
			o.Command.ByGlob = append(o.Command.ByGlob, GlobCommand{c.Glob, slices.Clone(c.Args)})
		}
	}
}

// asRecorded fills in the limits that were not given: an outcome may depend on
// them. What is not there was recorded with the default.
func (l *Limits) asRecorded(m golden.Meta) {
	if d, err := time.ParseDuration(m.Flags["--timeout"]); err == nil && l.Timeout == 0 {
		l.Timeout = d
	}
	for flag, value := range map[string]*int64{"--memory": &l.Memory, "--output-max": &l.OutputMax} {
		if n, err := strconv.ParseInt(m.Flags[flag], 10, 64); err == nil && *value == 0 {
			*value = n
		}
	}
}

// unquoted reads a list of strings that was printed by %q.
func unquoted(list string) (values []string) {
	for list != "" {
		quoted, err := strconv.QuotedPrefix(list)
		if err != nil {
			list = list[1:] // a bracket or a space
			continue
		}
		list = list[len(quoted):]
		if value, err := strconv.Unquote(quoted); err == nil {
			values = append(values, value)
		}
	}
	return values
}

// flagsDiffer tells of settings that are not those of the golden: they change
// what cases see and leave, and a difference may come from them.
func flagsDiffer(m golden.Meta, now map[string]string, who string) (texts []string) {
	for _, key := range []string{"--headers", "--context", "--env", "--pass-env", "--normalize", "--stdin", "--shell", "--timeout", "--memory", "--output-max"} {
		if was, is := m.Flags[key], now[key]; was != is {
			texts = append(texts, "the golden was recorded with "+worded(key, was)+", "+who+" has "+worded(key, is))
		}
	}
	return texts
}

func worded(key, value string) string {
	switch value {
	case "":
		return "no " + key
	case "true":
		return key
	}
	return key + " " + value
}
