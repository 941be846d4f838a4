package native

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/lab/results"
)

// jdk creates the files that identify a JDK and its version.
func jdk(t *testing.T, release string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/javac": "", "release": release} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// JAVA_HOME wins if it is new enough, else the newest JDK.
func TestChooseJDK(t *testing.T) {
	old := jdk(t, "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"1.8.0_402\"\n")
	seventeen := jdk(t, "JAVA_VERSION=\"17.0.15\"\nJAVA_VERSION_DATE=\"2025-04-15\"\n")
	next := jdk(t, "JAVA_VERSION=\"21\"\n")
	newest := jdk(t, "JAVA_VERSION=\"25.0.3\"\n")
	runtimeOnly := jdk(t, "JAVA_VERSION=\"99\"\n")
	if err := os.Remove(filepath.Join(runtimeOnly, "bin", "javac")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, wanted string
		homes        []string
		least        int
		home, err    string
	}{
		{"the newest", "", []string{old, next, newest, seventeen}, 17, newest, ""},
		{"the user's", seventeen, []string{newest}, 17, seventeen, ""},
		{"the user's is too old", seventeen, []string{next, seventeen}, 21, next, ""},
		{"all are too old", old, []string{old, seventeen}, 21, "", "21 or later in JAVA_HOME, in PATH or in /usr/lib/jvm: the newest is 17"},
		{"a JRE is none", "", []string{runtimeOnly}, 17, "", "no JDK of version 17 or later"},
		{"none", "", nil, 17, "", "no JDK of version 17 or later in JAVA_HOME, in PATH"},
	} {
		home, err := chooseJDK(c.wanted, c.homes, c.least)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if home != c.home || !strings.Contains(text, c.err) || (c.err == "") != (err == nil) {
			t.Errorf("%s: %q, %v", c.name, home, err)
		}
	}
}

// Without a new enough JDK a program is missing, and the error names a remedy.
func TestNoJDK(t *testing.T) {
	for _, p := range Programs() {
		if p.jdk == 0 {
			continue
		}
		p.jdk = 1000
		_, err := p.Build(t.Context(), t.TempDir())
		var none *results.Missing
		if !errors.As(err, &none) || none.Peer != p.Name || !strings.Contains(none.Install, "jdk") ||
			!strings.Contains(none.Reason, "no JDK of version 1000 or later") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}
