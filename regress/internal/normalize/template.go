package normalize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// template converts REPL to a template of regexp. It returns an error wherever regexp would
// silently omit text: regexp reads $1v as the group named "1v", and a missing group as nothing.
func template(repl string, re *regexp.Regexp) ([]byte, error) {
	var b []byte
	for repl != "" {
		c := repl[0]
		repl = repl[1:]
		switch {
		case c == '\\' && repl != "" && !digit(repl[0]):
			b, repl = append(b, escaped(repl[0])...), repl[1:]
		case c == '\\' && repl != "", c == '$':
			group, rest, err := cutGroup(repl, c == '\\')
			if err != nil {
				return nil, err
			}
			if group == "" {
				b, repl = append(b, "$$"...), rest
				continue
			}
			if err := hasGroup(re, group); err != nil {
				return nil, err
			}
			b, repl = fmt.Appendf(b, "${%s}", group), rest
		default:
			b = append(b, c)
		}
	}
	return b, nil
}

// escaped returns the template for a backslash and c.
func escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '$':
		return "$$"
	}
	return string([]byte{c})
}

// cutGroup cuts the name of a group from the text after a dollar sign, or one digit from the text
// after a backslash. An empty name means a literal dollar sign.
func cutGroup(s string, one bool) (group, rest string, err error) {
	switch {
	case one:
		return s[:1], s[1:], nil
	case strings.HasPrefix(s, "$"):
		return "", s[1:], nil
	case strings.HasPrefix(s, "{"):
		group, rest, found := strings.Cut(s[1:], "}")
		if !found || group == "" {
			return "", "", fmt.Errorf("${ in REPL does not begin a ${GROUP}: %s", dollarSign)
		}
		return group, rest, nil
	}
	in := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	if s != "" && digit(s[0]) {
		in = func(r rune) bool { return r >= '0' && r <= '9' }
	}
	rest = strings.TrimLeftFunc(s, in)
	return s[:len(s)-len(rest)], rest, nil
}

const dollarSign = "write $$ for a dollar sign"

func hasGroup(re *regexp.Regexp, group string) error {
	if n, err := strconv.Atoi(group); err == nil {
		if n < 0 || n > re.NumSubexp() || group != strconv.Itoa(n) {
			return fmt.Errorf("REPL uses group %s, and RE has %d: %s", group, re.NumSubexp(), dollarSign)
		}
		return nil
	}
	if !slices.Contains(re.SubexpNames(), group) {
		return fmt.Errorf("REPL uses a group named %q, and RE has no group of that name: %s", group, dollarSign)
	}
	return nil
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
