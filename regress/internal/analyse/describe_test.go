package analyse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// sideOf makes an outcome and its side from contents; "@" begins a link's
// target, "!" an executable, "-" alone stands for a removed file.
func sideOf(ending regress.Ending, parts map[outcome.Key]string) content.Side {
	o := &outcome.Outcome{Ending: ending}
	contents := map[outcome.Digest][]byte{}
	for key, text := range parts {
		p := outcome.Part{Key: key}
		switch {
		case text == "-":
			p.Form, text = outcome.Gone, ""
		case text != "" && text[0] == '@':
			p.Form, text = outcome.Symlink, text[1:]
		case text != "" && text[0] == '!':
			p.Exec, text = true, text[1:]
		}
		p.Size, p.Digest = int64(len(text)), outcome.Of([]byte(text))
		contents[p.Digest] = []byte(text)
		o.Parts = append(o.Parts, p)
	}
	o.Sort()
	return content.Side{Outcome: o, Open: func(p outcome.Part) (io.ReadCloser, error) {
		text, ok := contents[p.Digest]
		if !ok {
			return nil, errLost
		}
		return io.NopCloser(bytes.NewReader(text)), nil
	}}
}

var errLost = errors.New("no such blob")

func fileKey(path string) outcome.Key { return outcome.Key{Place: outcome.File, Path: path} }

func TestDifferences(t *testing.T) {
	stdout, stderr := outcome.Key{Place: outcome.Stdout}, outcome.Key{Place: outcome.Stderr}
	old := sideOf(regress.Ending{}, map[outcome.Key]string{
		stdout: "one\ntwo\n", stderr: "", fileKey("gone"): "x", fileKey("bin"): "\x00\x01", fileKey("link"): "@a", fileKey("same"): "s",
		fileKey("mode"): "text", fileKey("removed"): "r", fileKey("stdout"): "a file\n",
	})
	ended := regress.Ending{Kind: regress.Signalled, Code: 11}
	now := sideOf(ended, map[outcome.Key]string{
		stdout: "one\n2\n", stderr: "oh\n", fileKey("new"): "!12", fileKey("bin"): "\x00\x02", fileKey("link"): "@b\x1b", fileKey("same"): "s",
		fileKey("mode"): "!text", fileKey("removed"): "-", fileKey("stdout"): "the file\n",
	})
	c, err := outcome.Compare(old.Outcome, now.Outcome, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, more, err := Differences(nil, old, now, c)
	if err != nil {
		t.Fatal(err)
	}
	want := []report.Difference{
		{Part: "ending", Old: "exit 0", Now: ended.String()},
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
	if got := outcome.PartName(fileKey("stdout")); got != "./stdout" {
		t.Errorf("a file that is called stdout is named %s", got)
	}
}

func TestDifferencesWithoutContent(t *testing.T) {
	for _, parts := range []map[outcome.Key]string{{fileKey("a\x1b"): "x"}, {fileKey("a\x1b"): "@x"}} {
		old := sideOf(regress.Ending{}, parts)
		now := sideOf(regress.Ending{}, map[outcome.Key]string{fileKey("a\x1b"): "y"})
		c, err := outcome.Compare(old.Outcome, now.Outcome, nil)
		if err != nil {
			t.Fatal(err)
		}
		old.Open = func(outcome.Part) (io.ReadCloser, error) { return nil, errLost }
		_, _, err = Differences(nil, old, now, c)
		if want := fmt.Sprintf("a‹ESC›: %v", errLost); err == nil || err.Error() != want || !errors.Is(err, errLost) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
