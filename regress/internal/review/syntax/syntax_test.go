package syntax

import (
	"strings"
	"testing"
)

// A lexer that reads the whole text at once gets short texts alone: minutes of it cannot be ended.
func TestOnlyShortTextsForLexersThatReadAll(t *testing.T) {
	for name, line := range map[string]string{"a.svelte": "<p>{#if a}</p>\n", "a.erb": "<p><%= 1 %></p>\n", "a.go": "var a = 1\n"} {
		short, long := []byte(line), []byte(strings.Repeat(line, wholeBytesMax/len(line)+1))
		if len(tokensOf(t.Context(), name, short)) == 0 {
			t.Errorf("%s has no tokens", name)
		}
		if got, want := len(tokensOf(t.Context(), name, long)) > 0, name == "a.go"; got != want {
			t.Errorf("%s of %d bytes has tokens: %v", name, len(long), got)
		}
	}
}
