package report

import (
	"fmt"
	"muster/regress"
	"path/filepath"
	"strings"
	"testing"
)

// Every report says which of the tool's files changed: the short ones name the first and
// count the rest, and none says anything where none changed.
func TestToolChanged(t *testing.T) {
	s := regress.Summary{Command: "check", Run: "r", Cases: 1}
	for i := range 5 {
		s.ToolChanged = append(s.ToolChanged, fmt.Sprintf("/bin/file%d\x1b", i))
	}
	const short = "tool changed since the golden: /bin/file0%1B, /bin/file1%1B, /bin/file2%1B and 2 more files (-v names them)"
	const long = "/bin/file0%1B, /bin/file1%1B, /bin/file2%1B, /bin/file3%1B, /bin/file4%1B"
	report := func(make func(string) (Reporter, error), s regress.Summary) string {
		return string(writeReport(t, make, filepath.Join(t.TempDir(), "report"), []Event{Started{Command: "check"}, Finished{s}}))
	}
	console := func(v Verbosity, s regress.Summary) string {
		out, _ := feed(t, []Event{Started{Command: "check"}, Finished{s}}, false, 80, text(v))
		return out
	}
	lines := func(s regress.Summary) string {
		out, _ := feed(t, []Event{Started{Command: "check"}, Finished{s}}, false, 80, func(c Console) Reporter { return NewJSON(c, Normal) })
		return out
	}
	for name, c := range map[string]struct{ got, want string }{
		"text":     {console(Normal, s), short + "\n"},
		"verbose":  {console(Verbose, s), "golden: " + long + "\n"},
		"json":     {lines(s), `"tool_changed":["` + strings.ReplaceAll(long, ", ", `","`) + `"],"interrupted"`},
		"junit":    {report(NewJUnit, s), `<property name="tool_changed" value="` + long + `"`},
		"html":     {report(NewHTML, s), long},
		"markdown": {report(NewMarkdown, s), inline(strings.TrimPrefix(short, "tool changed since the golden: "))},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, c.got)
		}
	}
	s.ToolChanged = nil
	for _, got := range []string{console(Normal, s), report(NewJUnit, s), report(NewHTML, s), report(NewMarkdown, s)} {
		if strings.Contains(got, "tool changed") || strings.Contains(got, "tool_changed") || strings.Contains(got, "Tool changed") {
			t.Errorf("nothing changed: %s", got)
		}
	}
	if got := lines(s); !strings.Contains(got, `"tool_changed":[],`) {
		t.Errorf("got %s", got)
	}
}
