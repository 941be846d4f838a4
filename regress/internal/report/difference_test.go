package report

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"muster/regress"
	"muster/regress/internal/diff"
	"muster/regress/internal/outcome"
)

// sideOf makes an outcome and its side from contents; "@" begins a link's
// target, "!" an executable, "-" alone stands for a removed file.
func sideOf(ending *regress.Ending, parts map[outcome.Key]string) (*outcome.Outcome, Side) {
	o := &outcome.Outcome{Ending: *ending}
	contents := map[outcome.Digest][]byte{}
	for key, content := range parts {
		p := outcome.Part{Key: key}
		switch {
		case content == "-":
			p.Form, content = outcome.Gone, ""
		case content != "" && content[0] == '@':
			p.Form, content = outcome.Symlink, content[1:]
		case content != "" && content[0] == '!':
			p.Exec, content = true, content[1:]
		}
		p.Size, p.Digest = int64(len(content)), outcome.Of([]byte(content))
		contents[p.Digest] = []byte(content)
		o.Parts = append(o.Parts, p)
	}
	o.Sort()
	read := func(p outcome.Part) ([]byte, error) {
		content, ok := contents[p.Digest]
		if !ok {
			return nil, errors.New("no such blob")
		}
		return content, nil
	}
	return o, Side{*ending, read, read}
}

// contentsOf are the contents of a Difference.
func contentsOf(old, now []byte) func() (a, b []byte, err error) {
	return func() ([]byte, []byte, error) { return old, now, nil }
}

func file(path string) outcome.Key { return outcome.Key{Place: outcome.File, Path: path} }

func TestDifferences(t *testing.T) {
	stdout, stderr := outcome.Key{Place: outcome.Stdout}, outcome.Key{Place: outcome.Stderr}
	a, old := sideOf(exit(0), map[outcome.Key]string{
		stdout: "one\ntwo\n", stderr: "", file("gone"): "x", file("bin"): "\x00\x01", file("link"): "@a", file("same"): "s",
		file("mode"): "text", file("removed"): "r", file("stdout"): "a file\n",
	})
	b, now := sideOf(signal(11), map[outcome.Key]string{
		stdout: "one\n2\n", stderr: "oh\n", file("new"): "!12", file("bin"): "\x00\x02", file("link"): "@b\x1b", file("same"): "s",
		file("mode"): "!text", file("removed"): "-", file("stdout"): "the file\n",
	})
	c, err := outcome.Compare(a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, more, err := Differences(c, old, now, diff.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Difference{
		{Part: "ending", Old: "exit 0", Now: signal(11).String()},
		{Part: "stdout", Old: "8 bytes", Now: "6 bytes", Diff: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{Part: "stderr", Old: "empty", Now: "3 bytes", Diff: "@@ -0,0 +1 @@\n+oh\n"},
		{Part: "bin", Old: "file of 2 bytes", Now: "file of 2 bytes", Binary: true},
		{Part: "gone", Old: "file of 1 byte", Now: "absent"},
		{Part: "link", Old: "link to a", Now: "link to b‹ESC›"},
		{Part: "mode", Old: "file of 4 bytes", Now: "executable file of 4 bytes"},
		{Part: "new", Old: "absent", Now: "executable file of 2 bytes"},
		{Part: "removed", Old: "file of 1 byte", Now: "removed"},
	}
	for i := range got {
		if got[i].Contents == nil {
			continue
		}
		if a, b, err := got[i].Contents(); got[i].Part != "bin" || string(a) != "\x00\x01" || string(b) != "\x00\x02" || err != nil {
			t.Errorf("%s: %q %q %v", got[i].Part, a, b, err)
		}
		got[i].Contents = nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if more != 1 { // the file that is called stdout
		t.Errorf("%d more", more)
	}
	if got := outcome.PartName(file("stdout")); got != "./stdout" {
		t.Errorf("a file that is called stdout is named %s", got)
	}
}

func TestDifferencesWithoutContent(t *testing.T) {
	for _, parts := range []map[outcome.Key]string{{file("a\x1b"): "x"}, {file("a\x1b"): "@x"}} {
		a, old := sideOf(exit(0), parts)
		b, now := sideOf(exit(0), map[outcome.Key]string{file("a\x1b"): "y"})
		c, err := outcome.Compare(a, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		old.Content = func(outcome.Part) ([]byte, error) { return nil, errBroken }
		_, _, err = Differences(c, old, now, diff.Limits{})
		if want := fmt.Sprintf("a‹ESC›: %v", errBroken); err == nil || err.Error() != want || !errors.Is(err, errBroken) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
