// Package normalize rewrites parts of outcomes before their comparison: '[GLOB:]s/RE/REPL/'. Stored
// contents stay raw.
//
// It is pure: it sees bytes and names only.
package normalize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"

	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

// Rule is one rewrite.
type Rule struct {
	text    string
	parts   *partglob.Pattern // nil = every part
	re      *regexp.Regexp
	repl    []byte
	matched *atomic.Bool // whether the rule has matched so far
}

// Rules are applied in order.
type Rules []Rule

// Parse reads rules such as 's/[0-9]+ms/N ms/', 'stdout:s|/tmp/\w+|TMP|' or
// '*.c:s/"(\w+)\.c"/"$1"/'. GLOB is a pattern of package partglob; './stdout' is the file of that
// name. The delimiter is any character except letters, digits, spaces and the backslash. REPL may
// contain groups as $1, ${1}, $name and \1, and $$ for a dollar sign. The number of $1 ends with
// its digits. ^ and $ match at the start and end of each line.
func Parse(texts []string) (Rules, error) {
	rules := make(Rules, 0, len(texts))
	for _, text := range texts {
		r, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("--normalize %q: %w", text, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

const form = "the form is [GLOB:]s/RE/REPL/, as in stdout:s/[0-9]+ ms/N ms/"

func parse(text string) (r Rule, err error) {
	r.text, r.matched = text, new(atomic.Bool)
	body := text
	if !startsRewrite(body) {
		pattern, rest, found := cutGlob(text)
		if !found {
			return r, fmt.Errorf("the rewrite is missing: %s", form)
		}
		body = rest
		if r.parts, err = partglob.Compile(pattern); err != nil {
			return r, err
		}
	}
	fields, err := split(body[1:])
	if err != nil {
		return r, err
	}
	if _, err = regexp.Compile(fields[0]); err != nil { // which names the user's text alone
		return r, err
	}
	if r.re, err = regexp.Compile("(?m)" + fields[0]); err != nil {
		return r, err
	}
	r.repl, err = template(fields[1], r.re)
	return r, err
}

// cutGlob splits at the first colon before a rewrite.
func cutGlob(text string) (pattern, rest string, found bool) {
	for i := range len(text) {
		if text[i] == ':' && startsRewrite(text[i+1:]) {
			return text[:i], text[i+1:], i > 0
		}
	}
	return "", "", false
}

func startsRewrite(s string) bool {
	if len(s) < 2 || s[0] != 's' {
		return false
	}
	return s[1] > ' ' && s[1] < 0x7f && !strings.ContainsRune(`\`, rune(s[1])) && !alphanumeric(s[1])
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// split reads /RE/REPL/ with any delimiter. A backslash before the delimiter makes it literal.
func split(s string) (fields [2]string, err error) {
	delim, s := s[0], s[1:]
	for n := range fields {
		var b strings.Builder
		i := 0
		for ; i < len(s) && s[i] != delim; i++ {
			if s[i] == '\\' && i+1 < len(s) {
				if s[i+1] != delim {
					b.WriteByte('\\')
				}
				i++
			}
			b.WriteByte(s[i])
		}
		if i == len(s) {
			return fields, fmt.Errorf("the closing %q is missing: %s", delim, form)
		}
		fields[n], s = b.String(), s[i+1:]
	}
	if s != "" && s != "g" {
		return fields, fmt.Errorf("%q after the rewrite: every occurrence is replaced, flags go into RE as in (?i)", s)
	}
	return fields, nil
}

// Applies reports whether any rule may rewrite the part with a key.
func (rs Rules) Applies(k outcome.Key) bool {
	for _, r := range rs {
		if r.matches(k) {
			return true
		}
	}
	return false
}

func (r *Rule) matches(k outcome.Key) bool { return r.parts == nil || r.parts.Match(k) }

// Apply rewrites the content of the part with a key.
func (rs Rules) Apply(k outcome.Key, content []byte) []byte {
	for _, r := range rs {
		if r.matches(k) {
			content = r.apply(content)
		}
	}
	return content
}

// apply replaces every match.
func (r *Rule) apply(content []byte) []byte {
	if !r.matched.Load() && r.re.Match(content) {
		r.matched.Store(true)
	}
	return r.re.ReplaceAll(content, r.repl)
}

// Unmatched returns the rules that have matched no content so far, in the form of Parse.
func (rs Rules) Unmatched() (texts []string) {
	for _, r := range rs {
		if !r.matched.Load() {
			texts = append(texts, r.text)
		}
	}
	return texts
}

// AwaitMatch reports whether a rule for the part with a key has matched no content so far.
func (rs Rules) AwaitMatch(k outcome.Key) bool {
	return slices.ContainsFunc(rs, func(r Rule) bool { return !r.matched.Load() && r.matches(k) })
}

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
