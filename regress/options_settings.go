package regress

import (
	"fmt"
	"muster/regress/internal/opt"
	"strconv"
	"time"

	"muster/regress/internal/golden"
	"muster/regress/internal/name"
)

// A setting is an option that changes outcomes. It is kept with a golden, under its
// flag, and taken from there where it is not given. All that must know these options
// goes by one list of them, outcomeSettings.
type setting struct {
	flag  string
	scope scope
	field func(*opt.Options) any // a pointer to it
}

// scope is what a setting is a setting of.
type scope int

const (
	ofCase    scope = iota
	ofCommand       // how it is started: it goes with it
	ofVerdict
	ofIdentity // what the tool is: no case sees it
)

// outcomeSettings are all of them, in the order in which people are told of them.
func outcomeSettings() []setting {
	return []setting{
		{"headers", ofCase, func(o *opt.Options) any { return &o.Corpus.Headers }},
		{"context", ofCase, func(o *opt.Options) any { return &o.Corpus.Context }},
		{"env", ofCase, func(o *opt.Options) any { return &o.Command.Env }},
		{"pass-env", ofCase, func(o *opt.Options) any { return &o.Command.PassEnv }},
		{"normalize", ofVerdict, func(o *opt.Options) any { return &o.Judge.Normalize }},
		{"ignore", ofVerdict, func(o *opt.Options) any { return &o.Judge.Ignore }},
		{"shell", ofCommand, func(o *opt.Options) any { return &o.Command.Shell }},
		{"stdin", ofCommand, func(o *opt.Options) any { return &o.Command.Stdin }},
		{"no-network", ofCase, func(o *opt.Options) any { return &o.Command.NoNetwork }},
		{"tool-file", ofIdentity, func(o *opt.Options) any { return &o.Command.ToolFiles }},
		{"no-tool-file", ofIdentity, func(o *opt.Options) any { return &o.Command.NoToolFiles }},
		{"timeout", ofCase, func(o *opt.Options) any { return &o.Limits.Timeout }},
		{"memory", ofCase, func(o *opt.Options) any { return &o.Limits.Memory }},
		{"output-max", ofCase, func(o *opt.Options) any { return &o.Limits.OutputMax }},
	}
}

// name is how the setting is called where it is kept.
func (s setting) name() string { return "--" + s.flag }

// text is the value as it is kept; "" when nothing was given.
func (s setting) text(o *opt.Options) string {
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
	case *int64:
		if *v > 0 {
			return strconv.FormatInt(*v, 10)
		}
	}
	return ""
}

// given reports whether a list has a value that is not a kept one: it may be empty.
func (s setting) given(o *opt.Options) bool {
	list, is := s.field(o).(*[]string)
	return is && *list != nil
}

// complete reads a kept value, where nothing was given. What was recorded without has
// the default.
func (s setting) complete(o *opt.Options, text string) {
	switch v := s.field(o).(type) {
	case *[]string:
		if *v == nil {
			*v = unquoted(text)
		}
	case *bool:
		*v = *v || text != ""
	case *time.Duration:
		if d, err := time.ParseDuration(text); err == nil && *v == 0 {
			*v = d
		}
	case *int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && *v == 0 {
			*v = n
		}
	}
}

// args is the value as the command line takes it.
func (s setting) args(o *opt.Options) (args []string) {
	switch v := s.field(o).(type) {
	case *[]string:
		for _, one := range *v {
			args = append(args, s.name(), one)
		}
	case *bool:
		if *v {
			args = []string{s.name()}
		}
	case *time.Duration:
		args = []string{s.name(), v.String()}
	case *int64:
		args = []string{s.name(), sizeText(max(0, *v))}
	}
	return args
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

// outcomeFlags returns the values of the settings by name. They are part of a golden's export.
func outcomeFlags(o *opt.Options) map[string]string {
	flags := map[string]string{}
	for _, s := range outcomeSettings() {
		if text := s.text(o); text != "" {
			flags[s.name()] = text
		}
	}
	return flags
}

// flagsDiffer tells of settings that are not those of the golden: they change
// what cases see and leave, and a difference may come from them.
func flagsDiffer(m golden.Meta, now map[string]string, who string) (texts []string) {
	for _, s := range outcomeSettings() {
		if s.scope == ofIdentity {
			continue
		}
		if was, is := m.Flags[s.name()], now[s.name()]; was != is {
			texts = append(texts, "the golden was recorded with "+s.worded(was)+", "+who+" has "+s.worded(is))
		}
	}
	return texts
}

// worded is the setting with a kept value, as the command line takes both.
func (s setting) worded(text string) string {
	if text == "" {
		return "no " + s.name()
	}
	var o opt.Options
	s.complete(&o, text)
	return name.QuoteAll(s.args(&o))
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
