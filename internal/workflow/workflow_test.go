package workflow

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// A message and a property cannot end the command, begin another, or add a property.
func TestCommand(t *testing.T) {
	got := Command("error", []Property{{"file", "a,b::c%.go"}, {"line", ""}, {"title", "x\ny"}}, "100 %\r\n::error::no: really, no")
	const want = "::error file=a%2Cb%3A%3Ac%25.go,title=x%0Ay::100 %25%0D%0A::error::no: really, no\n"
	if got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := Command("warning", nil, "text"); got != "::warning::text\n" {
		t.Errorf("%q", got)
	}
}

func TestGuard(t *testing.T) {
	for in, want := range map[string]string{
		"a :: b: c\n":                   "a :: b: c\n",
		"::error::x\n":                  "%3A:error::x\n",
		"  \t ::error::x\n":             "  \t %3A:error::x\n",
		"a\r::error::x":                 "a\r%3A:error::x",
		"\u00a0\u3000::add-mask::x":     "\u00a0\u3000%3A:add-mask::x",
		"changed a##[error]x\n":         "changed a##%5Berror]x\n",
		"###[group]x #[x] ## [x] [x]\n": "###%5Bgroup]x #[x] ## [x] [x]\n",
		"one\n\n::x::\n":                "one\n\n%3A:x::\n",
	} {
		var whole, pieces bytes.Buffer
		if n, err := Guard(&whole).Write([]byte(in)); n != len(in) || err != nil {
			t.Errorf("%q: %d %v", in, n, err)
		}
		g := Guard(&pieces)
		for i := range len(in) { // however the text is divided
			if _, err := g.Write([]byte(in[i : i+1])); err != nil {
				t.Error(err)
			}
		}
		if whole.String() != want || pieces.String() != want {
			t.Errorf("%q: %q and %q, not %q", in, whole.String(), pieces.String(), want)
		}
	}
}

// The values of JSON stay the same.
func TestGuardJSON(t *testing.T) {
	var b bytes.Buffer
	if _, err := GuardJSON(&b).Write([]byte(`{"name":"::x ##[error]y"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	var line struct{ Name string }
	err := json.Unmarshal(b.Bytes(), &line)
	if err != nil || line.Name != "::x ##[error]y" || strings.Contains(b.String(), "##[") {
		t.Errorf("%s: %q, %v", b.String(), line.Name, err)
	}
}
