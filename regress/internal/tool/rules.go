package tool

import (
	"fmt"
	"io"
	"os"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// rulesBytesMax bounds a file of rules.
const rulesBytesMax = 16 << 20

// readPrerequisites returns the files that a file of make rules names behind the colons, as
// compilers write it with -MD: what they read.
func readPrerequisites(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fault.Environmentf("--tool-file @%s: %w", name.Print(file), fault.Reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, rulesBytesMax+1))
	if err == nil && len(text) > rulesBytesMax {
		err = fmt.Errorf("more than %d bytes", rulesBytesMax)
	}
	if err != nil {
		return nil, fault.Environmentf("--tool-file @%s: %w", name.Print(file), fault.Reason(err))
	}
	// Lines end with a backslash to go on.
	joined := strings.NewReplacer("\\\r\n", " ", "\\\n", " ").Replace(string(text))
	var files []string
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words := ruleWords(line)
		colon := 0
		for colon < len(words) && !strings.HasSuffix(words[colon], ":") {
			colon++
		}
		if colon == len(words) {
			return nil, fault.Inputf("--tool-file @%s: %q is no rule, such as \"a.o: a.c a.h\": give a list that a compiler wrote with -MD, or the file itself without @", name.Print(file), line[:min(len(line), 60)])
		}
		files = append(files, words[colon+1:]...)
	}
	return files, nil
}

// ruleWords splits a rule at blanks that are not escaped. $$ is a dollar sign.
func ruleWords(line string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
		}
		word.Reset()
	}
	for i := 0; i < len(line); i++ {
		next := byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch c := line[i]; {
		case c == '\\' && strings.IndexByte(" \t#:", next) >= 0, c == '$' && next == '$':
			word.WriteByte(next)
			i++
		case c == ' ' || c == '\t':
			end()
		default:
			word.WriteByte(c)
		}
	}
	end()
	return words
}
