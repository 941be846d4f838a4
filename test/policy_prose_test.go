package test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sentenceWords is the length of the longest sentence that readers understand at once, in
// words.
const sentenceWords = 25

// bannedPhrases are phrases that readers have to read twice, with a replacement.
var bannedPhrases = []struct {
	phrase  *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\bof which\b`), "two sentences"},
	{regexp.MustCompile(`(?i)\bso many\b`), "the number, or \"N\""},
	{regexp.MustCompile(`(?i)\bin the place of\b`), "\"instead of\""},
	{regexp.MustCompile(`(?i)\bwhat there is\b`), "the name of the thing"},
	{regexp.MustCompile(`(?i)\bis told\b`), "\"is reported\", \"is printed\", \"knows\""},
	{regexp.MustCompile(`(?i)\bare told\b`), "\"are reported\", \"are printed\", \"know\""},
	{regexp.MustCompile(`(?i)\bin how few ways\b`), "\"by cause\""},
	{regexp.MustCompile(`^(Who|What) [^?]*[^?]$`), "the subject and the verb first"},
}

// TestPagesArePlain holds all pages to plain phrases, and the manual and the README to short sentences.
func TestPagesArePlain(t *testing.T) {
	for _, f := range readTree(t).texts {
		isPage := strings.HasSuffix(f.path, ".md") && !under(f.path, "bench/...") && !strings.Contains(f.path, "testdata/")
		if !isPage {
			continue
		}
		for _, s := range sentences(paragraphs(string(f.bytes))) {
			checkPhrases(t, f.path, s)
			isLinks := strings.Contains(s, " · ")
			if f.path == "README.md" || under(f.path, "docs/...") && !isLinks {
				checkLength(t, f.path, s)
			}
		}
	}
}

// TestHelpIsPlain holds the help of all commands to plain phrases and short sentences.
func TestHelpIsPlain(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	testHelp(t, path)
}

// testHelp checks the help of a command and of the commands below it.
func testHelp(t *testing.T, program string, command ...string) {
	c := exec.CommandContext(t.Context(), program, append([]string{"help"}, command...)...)
	c.Env = append(os.Environ(), "NO_COLOR=1")
	page, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	about, usage, _ := strings.Cut(string(page), "\nUsage:")
	for _, s := range sentences(about) {
		checkPhrases(t, "muster help "+strings.Join(command, " "), s)
		checkLength(t, "muster help "+strings.Join(command, " "), s)
	}
	for _, name := range listedCommands(usage) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testHelp(t, program, slices.Concat(command, []string{name})...)
		})
	}
}

// listedCommands returns the commands in the help of a command with subcommands.
func listedCommands(usage string) (names []string) {
	_, list, found := strings.Cut(usage, " COMMAND\n")
	if !found {
		return nil
	}
	for _, c := range regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`).FindAllStringSubmatch(list, -1) {
		names = append(names, c[1])
	}
	return names
}

func checkLength(t *testing.T, where, sentence string) {
	t.Helper()
	if n := len(strings.Fields(sentence)); n > sentenceWords {
		t.Errorf("%s: a sentence of %d words, more than %d: split it: %s", where, n, sentenceWords, sentence)
	}
}

func checkPhrases(t *testing.T, where, sentence string) {
	t.Helper()
	for _, b := range bannedPhrases {
		if phrase := b.phrase.FindString(sentence); phrase != "" {
			t.Errorf("%s: write %s instead of %q: %s", where, b.instead, phrase, sentence)
		}
	}
}

// listItem begins an item of a list in Markdown.
var listItem = regexp.MustCompile(`^ *(\* |- |\d+\. )`)

// paragraphs returns the paragraphs and items of a Markdown page. It leaves out code, tables,
// headings and pictures.
func paragraphs(page string) string {
	var kept strings.Builder
	inCode := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "```"):
			inCode = !inCode
			kept.WriteString("\n")
		case inCode, strings.HasPrefix(line, "    "), strings.HasPrefix(line, "|"), strings.HasPrefix(line, "#"), strings.HasPrefix(line, "!["):
			kept.WriteString("\n")
		default:
			kept.WriteString(listItem.ReplaceAllString(line, "\n"))
		}
	}
	return kept.String()
}

var (
	emptyLine   = regexp.MustCompile(`\n\s*\n`)
	sentenceEnd = regexp.MustCompile("([.!?:;][\")]?)\\s+([A-Z`\"(*\\[-]|muster\\b)")
)

// sentences splits paragraphs into sentences. A colon or a semicolon ends one if a capital
// letter, a sign or the program's name follows.
func sentences(text string) (list []string) {
	for _, paragraph := range emptyLine.Split(text, -1) {
		line := strings.Join(strings.Fields(paragraph), " ")
		list = append(list, strings.Split(sentenceEnd.ReplaceAllString(line, "$1\x00$2"), "\x00")...)
	}
	return list
}
