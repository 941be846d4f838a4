package content

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"muster/regress/internal/outcome"
)

// countedOpens opens what it has, and counts how often.
type countedOpens struct {
	content map[string][]byte // by the path of the part
	opened  int
}

func (c *countedOpens) open(p outcome.Part) (io.ReadCloser, error) {
	c.opened++
	b, known := c.content[p.Path]
	if !known {
		return nil, errors.New("gone")
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func file(path string, size int64) outcome.Part {
	return outcome.Part{Key: outcome.Key{Place: outcome.File, Path: path}, Form: outcome.Regular, Size: size, Digest: outcome.Digest{byte(size)}}
}

// What is remembered has a limit, and an error is none of it.
func TestRememberedIsBounded(t *testing.T) {
	c := countedOpens{content: map[string][]byte{"small": []byte("x"), "large": []byte("y"), "half": make([]byte, rememberedMax/2+1), "other half": make([]byte, rememberedMax/2+1)}}
	open := Cache(c.open)
	for _, one := range []struct {
		path    string
		size    int64
		opens   int // of two times
		content string
	}{
		{"large", rememberedMax + 1, 2, "y"}, {"small", 1, 1, "x"}, {"half", rememberedMax/2 + 1, 1, ""},
		{"other half", rememberedMax/2 + 1, 2, ""}, {"small", 1, 0, "x"}, {"none", 1, 2, ""},
	} {
		c.opened = 0
		for range 2 {
			b, err := ReadAll(open, file(one.path, one.size))
			if (err != nil) != (one.path == "none") || one.content != "" && string(b) != one.content {
				t.Errorf("%s: %d bytes, %v", one.path, len(b), err)
			}
		}
		if c.opened != one.opens {
			t.Errorf("%s was opened %d times, not %d", one.path, c.opened, one.opens)
		}
	}
}
