package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/regress"
)

func TestReadPrerequisites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.d")
	for text, want := range map[string]string{
		"a.o: a.c a.h\n":                           "a.c a.h",
		"a.o b.o : a.c \\\n  /usr/x.h\\\r\n y.h":   "a.c /usr/x.h y.h",
		"# by hand\n\na.o:\nb.o: b.c\nb.h:\n":      "b.c",
		`a.o: two\ words.h price$$.h no\#1.h c:\d`: `two_words.h price$.h no#1.h c:\d`,
		"":      "",
		"a.o: ": "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readPrerequisites(file)
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], " ", "_")
		}
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q %v, want %s", text, got, err, want)
		}
	}
	if err := os.WriteFile(file, []byte("int main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readPrerequisites(file); regress.ClassOf(err) != regress.Input {
		t.Errorf("no rule: %v", err)
	}
	if err := os.Truncate(file, rulesBytesMax+1); err != nil {
		t.Fatal(err)
	}
	if _, err := readPrerequisites(file); regress.ClassOf(err) != regress.Environment {
		t.Errorf("too long: %v", err)
	}
}
