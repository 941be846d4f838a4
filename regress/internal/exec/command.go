package exec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"muster/regress/internal/fault"
)

// Shell runs the commands that ask for a shell. POSIX has it at this path nearly everywhere. A
// fixed path keeps the command's identity independent of PATH.
const Shell = "/bin/sh"

// Command is a command line whose tokens {in}, {out}, {stem}, {name} and {dir} are replaced
// for each case, with its executable. It does not change after Resolve.
type Command struct {
	Words []string // as given
	Shell bool     // the words, joined by spaces, are a shell script
	Stdin bool     // the source is the standard input
	As    string   // the name of every source in its lane; "" = that of its case

	Path    string // absolute path of the executable (the shell's, if Shell)
	IsLocal bool   // the executable is a file of this machine
}

// Resolve finds the executable of a command in the caller's PATH. A name with a slash is
// relative to the caller's folder.
func Resolve(words []string, useShell, stdin bool) (*Command, error) {
	if len(words) == 0 || words[0] == "" {
		return nil, fault.Inputf("no command: name it after --, as in -- gofmt {in}, or as command in muster.toml")
	}
	name := words[0]
	if useShell {
		name = Shell
	}
	c, err := resolve(name, &Command{Words: words, Shell: useShell, Stdin: stdin})
	if err != nil && !useShell && len(strings.Fields(name)) > 1 {
		err = fmt.Errorf("%w: %s", err, oneWordHint(name))
	}
	return c, err
}

// ResolveAt returns a command whose executable has this absolute path, and that no shell runs.
func ResolveAt(path string, words []string, stdin bool) (*Command, error) {
	return resolve(path, &Command{Words: words, Stdin: stdin})
}

// ResolveRemote returns a command for other machines. Nothing is looked up here: the path of
// its executable is valid there.
func ResolveRemote(words []string, useShell, stdin bool) (*Command, error) {
	c := &Command{Words: words, Shell: useShell, Stdin: stdin, Path: Shell}
	switch {
	case len(words) == 0 || words[0] == "":
		return Resolve(words, useShell, stdin) // it returns the error for a missing command
	case !useShell:
		c.Path = words[0]
	}
	return c, nil
}

// Locate returns the absolute path of the executable that a command's first word names.
func Locate(name string) (string, error) {
	found, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

func resolve(name string, c *Command) (*Command, error) {
	var err error
	if c.Path, err = Locate(name); err != nil {
		switch e := (*exec.Error)(nil); {
		case errors.Is(err, exec.ErrNotFound):
			err = errors.New("PATH has no such program")
		case errors.As(err, &e):
			err = e.Err // the rest repeats the name
		}
		return nil, fault.Environmentf("command %q cannot be run: %w", name, fault.Reason(err))
	}
	info, err := os.Stat(c.Path)
	switch {
	case err != nil:
		return nil, fault.Environmentf("command %q cannot be read: %w", name, fault.Reason(err))
	case !info.Mode().IsRegular(): // reading a pipe might never end
		return nil, fault.Environmentf("command %q cannot be run: it is not a file", name)
	}
	c.IsLocal = true
	return c, nil
}

// Same reports whether two commands do the same with every case.
func (c *Command) Same(other *Command) bool {
	return slices.Equal(c.Words, other.Words) && c.Shell == other.Shell && c.Stdin == other.Stdin && c.As == other.As && c.Path == other.Path
}

// Locale is the locale of cases, unless they set another.
const Locale = "LC_ALL=C.UTF-8"

// Environment returns the environment of a case, as NAME=VALUE. own depends on the executor:
// its folders, for example. extra overrides the rest. SOURCE_DATE_EPOCH is sourceTime of package lane, the time of
// sources.
func Environment(own, extra []string) []string {
	env := append(slices.Clone(own), Locale, "TZ=UTC", "SOURCE_DATE_EPOCH=1577836800")
	for _, kv := range extra {
		key, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, key+"=") })
		env = append(env, kv)
	}
	return env
}

// Hints names likely mistakes in a command line whose cases fail, each once.
func (c *Command) Hints() (hints []string) {
	hints = c.MisspeltTokens()
	for i, word := range c.Words {
		if !c.Shell && (i == 0 || c.Words[i-1] != "-c") { // a script follows -c
			hints = append(hints, shellHint(word)...)
		}
	}
	slices.Sort(hints)
	return slices.Compact(hints)
}

// MisspeltTokens returns a hint for each word that resembles a token.
func (c *Command) MisspeltTokens() (hints []string) {
	for _, word := range c.Words {
		hints = append(hints, misspeltTokens(word)...)
	}
	slices.Sort(hints)
	return slices.Compact(hints)
}

// misspeltTokens returns a hint for each part of a word in braces that resembles a token.
func misspeltTokens(word string) (hints []string) {
	for rest := word; ; {
		_, after, open := strings.Cut(rest, "{")
		inner, _, closed := strings.Cut(after, "}")
		if !open || !closed {
			return hints
		}
		given := "{" + inner + "}"
		if token := similarToken(given); token != "" && token != given {
			hints = append(hints, fmt.Sprintf("%s is not a token: did you mean %s?", given, token))
		}
		rest = after
	}
}

// similarToken returns the token that a word in braces probably stands for, or "".
func similarToken(given string) string {
	given = strings.ToLower(given)
	switch given {
	case "{}", "{file}", "{source}", "{src}", "{path}":
		return "{in}"
	}
	for _, t := range tokens {
		if strings.HasPrefix(given, strings.TrimSuffix(t, "}")) {
			return t
		}
	}
	for _, t := range tokens {
		if oneLetterAway(given, t) {
			return t
		}
	}
	return ""
}

// oneLetterAway reports whether the texts have the same length and differ in one letter.
func oneLetterAway(a, b string) bool {
	differ := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			differ++
		}
	}
	return len(a) == len(b) && differ == 1
}

// shellHint returns a hint for an operator that only a shell understands, or for a command
// line that quotes made one word.
func shellHint(word string) []string {
	fields := strings.Fields(word)
	operator := slices.IndexFunc(fields, func(f string) bool {
		return slices.Contains([]string{"|", "||", "&&", ";", "<"}, f) || strings.HasPrefix(strings.TrimLeft(f, "12&"), ">")
	})
	switch {
	case operator >= 0:
		return []string{fmt.Sprintf("%s needs a shell: add --shell", fields[operator])}
	case len(fields) > 1 && HasToken(word):
		return []string{oneWordHint(word)}
	}
	return nil
}

func oneWordHint(word string) string {
	return fmt.Sprintf("the quotes make one word of %q: leave them out, or add --shell", word)
}

// PlacedName returns the name that the source of the case has for the command.
func (c *Command) PlacedName(caseName string) string {
	if c.As != "" {
		return c.As
	}
	return caseName
}

// Args returns the arguments for the case of that name, beginning with the zeroth.
func (c *Command) Args(name string) []string {
	name = c.PlacedName(name)
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

// TypedWords returns the words that run this executable when typed in the caller's folder.
// They are the given words, unless their name leads to another executable from there.
func (c *Command) TypedWords() []string {
	if c.Shell {
		return c.Words
	}
	if at, err := Locate(c.Words[0]); err == nil && at == c.Path {
		return c.Words
	}
	return append([]string{c.Path}, c.Words[1:]...)
}

// Script returns a shell script that does what the command does, including its input. So
// commands with different settings for shell and input can be compared as scripts.
func (c *Command) Script() string {
	script := strings.Join(c.Words, " ")
	if !c.Shell {
		script = "exec " + shellescape.Quote(c.Path)
		for _, word := range c.Words[1:] {
			script += " " + quoteAround(word)
		}
	}
	switch {
	case c.Stdin:
		return "exec < {in}; " + script
	case !HasToken(c.Words...):
		return script + " {in}"
	}
	return script
}

// quoteAround quotes a word except its tokens, which are quoted when they are replaced.
func quoteAround(word string) string {
	if word == "" {
		return "''"
	}
	var b strings.Builder
	plain := 0 // where the unwritten rest begins
	for at := 0; at < len(word); {
		i := slices.IndexFunc(tokens[:], func(t string) bool { return strings.HasPrefix(word[at:], t) })
		if i < 0 {
			at++
			continue
		}
		if at > plain {
			b.WriteString(shellescape.Quote(word[plain:at]))
		}
		b.WriteString(tokens[i])
		at += len(tokens[i])
		plain = at
	}
	if plain < len(word) {
		b.WriteString(shellescape.Quote(word[plain:]))
	}
	return b.String()
}
