package tool

import (
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/exec"
)

// Every word of a script that may name a program or a file is found, wherever the shell's
// syntax hides it.
func TestWordsOfScripts(t *testing.T) {
	for script, want := range map[string]string{
		"comp {in}":                       "comp",
		"comp<{in}|post -x;more&&last&":   "comp post -x more last",
		"A=1 comp 'two words' \"$B\"/x":   "A=1 comp two_words two words $B/x",
		"x=$(comp {in}) `other` ":         "x= comp other",
		`echo "$(comp "a b") end"`:        `echo $(comp_a comp a b)_end b end`,
		`sh -c 'exec comp {in}'`:          "sh -c exec comp",
		`sh -c "sh -c 'comp {in}'"`:       "sh -c comp",
		"comp > out 2>>log >&3 >|x <read": "comp 2 read",
		"comp 'open":                      "comp open",
		`comp a\ b \`:                     "comp a_b",
		"if test -f x; then comp; fi":     "if test -f x then comp fi",
		"{ comp; }":                       "{ comp }",
		"":                                "",
		"$(":                              "",
	} {
		c := &exec.Command{Words: strings.Split(script, " "), Shell: true}
		got := wordsOf(c)
		for i, word := range got {
			got[i] = strings.ReplaceAll(word, " ", "_")
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", script, text, want)
		}
	}
}

// Without a shell words stay whole, and a word that is a script for another shell is split as
// well.
func TestWordsOfCommands(t *testing.T) {
	c := &exec.Command{Words: []string{"sh", "-c", "comp $1 > log", "sh", "{in}", "-o{out}", "a b"}}
	want := []string{"-c", "comp $1 > log", "comp", "$1", "sh", "a b", "a", "b"}
	if got := wordsOf(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// No script takes long or much memory.
func TestWordsAreBounded(t *testing.T) {
	deep := strings.Repeat(`"\`, 1000) + "x y"
	wide := strings.Repeat("a b ", 1<<20)
	for _, script := range []string{deep, wide, strings.Repeat("'a b' ", wordsMax)} {
		if n := len(scriptWords(script, 0)); n > 2*wordsMax {
			t.Errorf("%d words", n)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(`a "b $(c 'd e') f" > g`)
	f.Fuzz(func(_ *testing.T, script string) {
		for _, word := range scriptWords(script, 0) { // must not panic, and must end
			piecesOf(word)
		}
	})
}

func TestPieces(t *testing.T) {
	for word, want := range map[string]string{
		"cc": "cc", "--config=/a/b": "--config=/a/b --config /a/b", "@args": "@args args", "-I/usr/x": "-I/usr/x /usr/x", "/a:/b": "/a:/b /a /b", "CC=gcc": "CC=gcc CC gcc",
	} {
		if got := strings.Join(piecesOf(word), " "); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
