package exec

import (
	"path"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// Args returns the arguments for the case of that name, beginning with the zeroth.
func (c *Command) Args(name string) []string {
	implied := !c.Stdin && !HasToken(c.Words...)
	if c.Shell {
		script := strings.Join(c.Words, " ")
		if implied {
			script += " {in}"
		}
		return []string{Shell, "-c", fill(script, name, shellescape.Quote)}
	}
	args := append(make([]string, 0, len(c.Words)+1), c.Words...)
	if strings.Contains(args[0], "/") {
		args[0] = c.Path
	}
	if implied {
		args = append(args, "{in}")
	}
	for i := 1; i < len(args); i++ {
		args[i] = fill(args[i], name, nil)
	}
	return args
}

// tokens are all tokens. Other words in braces stay as they are.
var tokens = [...]string{"{in}", "{out}", "{stem}", "{name}", "{dir}"}

// Fill replaces the tokens in a text by their values for the case of that name.
func Fill(text, name string) string { return fill(text, name, nil) }

// HasToken reports whether one of the words contains a token.
func HasToken(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(tokens[:], func(t string) bool { return strings.Contains(word, t) })
	})
}

// fill replaces the tokens in text by their values, quoted if quote is not nil. It is called
// for every argument of every run. Making a strings.Replacer would take ten times as long as
// the rest.
func fill(text, name string, quote func(string) string) string {
	if strings.IndexByte(text, '{') < 0 {
		return text
	}
	var b []byte
	for at := 0; at < len(text); {
		i := slices.IndexFunc(tokens[:], func(t string) bool { return strings.HasPrefix(text[at:], t) })
		if i < 0 {
			b = append(b, text[at])
			at++
			continue
		}
		value := tokenValue(tokens[i], name)
		if quote != nil {
			value = quote(value)
		}
		b = append(b, value...)
		at += len(tokens[i])
	}
	return string(b)
}

// tokenValue returns the value of a token for the case of that name.
func tokenValue(token, name string) string {
	in := name
	if in[0] == '-' {
		in = "./" + in // otherwise a tool would read it as an option
	}
	switch token {
	case "{in}":
		return in
	case "{out}":
		return in + ".out"
	case "{name}":
		return path.Base(in)
	case "{dir}":
		return path.Dir(in)
	}
	if ext := path.Ext(in); path.Base(in) != ext {
		return strings.TrimSuffix(in, ext)
	}
	return in
}
