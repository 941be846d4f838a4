package job

import (
	"fmt"
	"strconv"
	"time"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
)

// A Setting is an option that changes outcomes. It is kept with a golden, under its
// flag, and taken from there where it is not given. All that must know these options
// goes by one list of them, OutcomeSettings.
type Setting struct {
	flag  string
	Scope Scope
	field func(*regress.Options) any // a pointer to it
}

// Name is how the setting is called where it is kept.
func (s Setting) Name() string { return "--" + s.flag }

// Text is the value as it is kept; "" when nothing was given.
func (s Setting) Text(o *regress.Options) string {
	switch v := s.field(o).(type) {
	case *[]string:
		if len(*v) > 0 {
			return fmt.Sprintf("%q", *v)
		}
	case *bool:
		if *v {
			return "true"
		}
	case *time.Duration:
		if *v != 0 {
			return v.String()
		}
	case *string:
		return *v
	case *int64:
		if *v > 0 {
			return strconv.FormatInt(*v, 10)
		}
	}
	return ""
}

// IsGiven reports whether a list has a value that is not a kept one: it may be empty.
func (s Setting) IsGiven(o *regress.Options) bool {
	list, is := s.field(o).(*[]string)
	return is && *list != nil
}

// Complete reads a kept value, where nothing was given. What was recorded without has
// the default.
func (s Setting) Complete(o *regress.Options, text string) {
	switch v := s.field(o).(type) {
	case *[]string:
		if *v == nil {
			*v = unquote(text)
		}
	case *bool:
		*v = *v || text != ""
	case *time.Duration:
		if d, err := time.ParseDuration(text); err == nil && *v == 0 {
			*v = d
		}
	case *string:
		if *v == "" {
			*v = text
		}
	case *int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && *v == 0 {
			*v = n
		}
	}
}

// Args is the value as the command line takes it.
func (s Setting) Args(o *regress.Options) (args []string) {
	switch v := s.field(o).(type) {
	case *[]string:
		for _, one := range *v {
			args = append(args, s.Name(), one)
		}
	case *bool:
		if *v {
			args = []string{s.Name()}
		}
	case *time.Duration:
		args = []string{s.Name(), v.String()}
	case *string:
		if *v != "" {
			args = []string{s.Name(), *v}
		}
	case *int64:
		args = []string{s.Name(), sizeText(max(0, *v))}
	}
	return args
}

// Worded returns the setting with a kept value, as the command line takes both.
func (s Setting) Worded(text string) string {
	if text == "" {
		return "no " + s.Name()
	}
	var o regress.Options
	s.Complete(&o, text)
	return name.QuoteAll(s.Args(&o))
}

// Scope is what a setting is a setting of.
type Scope int

const (
	OfCase    Scope = iota
	OfCommand       // how it is started: it goes with it
	OfVerdict
	OfIdentity // what the tool is: no case sees it
)

// OutcomeSettings are all of them, in the order in which people are told of them.
func OutcomeSettings() []Setting {
	return []Setting{
		{"headers", OfCase, func(o *regress.Options) any { return &o.Corpus.Headers }},
		{"context", OfCase, func(o *regress.Options) any { return &o.Corpus.Context }},
		{"env", OfCase, func(o *regress.Options) any { return &o.Command.Env }},
		{"pass-env", OfCase, func(o *regress.Options) any { return &o.Command.PassEnv }},
		{"normalize", OfVerdict, func(o *regress.Options) any { return &o.Judge.Normalize }},
		{"ignore", OfVerdict, func(o *regress.Options) any { return &o.Judge.Ignore }},
		{"shell", OfCommand, func(o *regress.Options) any { return &o.Command.Shell }},
		{"stdin", OfCommand, func(o *regress.Options) any { return &o.Command.Stdin }},
		{"as", OfCase, func(o *regress.Options) any { return &o.Command.As }},
		{"no-network", OfCase, func(o *regress.Options) any { return &o.Command.NoNetwork }},
		{"tool-file", OfIdentity, func(o *regress.Options) any { return &o.Command.ToolFiles }},
		{"no-tool-file", OfIdentity, func(o *regress.Options) any { return &o.Command.NoToolFiles }},
		{"timeout", OfCase, func(o *regress.Options) any { return &o.Limits.Timeout }},
		{"memory", OfCase, func(o *regress.Options) any { return &o.Limits.Memory }},
		{"output-max", OfCase, func(o *regress.Options) any { return &o.Limits.OutputMax }},
	}
}

// OutcomeFlags returns the values of the settings by name. They are part of a golden's export.
func OutcomeFlags(o *regress.Options) map[string]string {
	flags := map[string]string{}
	for _, s := range OutcomeSettings() {
		if text := s.Text(o); text != "" {
			flags[s.Name()] = text
		}
	}
	return flags
}

// DescribeChanges tells of settings that are not those of the golden: they change
// what cases see and leave, and a difference may come from them.
func DescribeChanges(m golden.Meta, now map[string]string, who string) (texts []string) {
	for _, s := range OutcomeSettings() {
		if s.Scope == OfIdentity {
			continue
		}
		if was, is := m.Flags[s.Name()], now[s.Name()]; was != is {
			texts = append(texts, "the golden was recorded with "+s.Worded(was)+", "+who+" has "+s.Worded(is))
		}
	}
	return texts
}

// unquote reads a list of strings that was printed by %q.
func unquote(list string) (values []string) {
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

// sizeText is a size as the command line takes it, in the largest unit that divides it.
func sizeText(n int64) string {
	const kib = 1 << 10
	unit := ""
	for _, larger := range []string{"K", "M", "G"} {
		if n == 0 || n%kib != 0 {
			break
		}
		n, unit = n/kib, larger
	}
	return strconv.FormatInt(n, 10) + unit
}
