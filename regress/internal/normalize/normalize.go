// Package normalize rewrites parts of outcomes before their comparison: '[GLOB:]s/RE/REPL/'. Stored
// contents stay raw.
//
// It is pure: it sees bytes and names only.
package normalize

import (
	"fmt"
	"regexp"
	"strings"

	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

// Rule is one rewrite.
type Rule struct {
	parts *partglob.Pattern // nil = every part
	re    *regexp.Regexp
	repl  []byte
}

// Rules are applied in order.
type Rules []Rule

// Parse reads rules such as 's/[0-9]+ms/N ms/', 'stdout:s|/tmp/\w+|TMP|' or
// '*.c:s/"(\w+)\.c"/"$1"/'. GLOB is a pattern of package partglob; './stdout' is the file of that
// name. The delimiter is any character except letters, digits, spaces and the backslash. REPL may
// contain groups as $1, ${1}, $name and \1, and $$ for a dollar sign. The number of $1 ends with
// its digits.
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
	if r.re, err = regexp.Compile(fields[0]); err != nil {
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
			content = r.re.ReplaceAll(content, r.repl)
		}
	}
	return content
}
