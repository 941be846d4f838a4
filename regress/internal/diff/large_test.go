package diff

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/plaintext"
)

// randomText returns about size bytes of lines of 10 to 90 bytes.
func randomText(seed uint64, size int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	text := make([]byte, 0, size+100)
	for len(text) < size {
		for range 10 + random.IntN(80) {
			text = append(text, byte('a'+random.IntN(26)))
		}
		text = append(text, '\n')
	}
	return text
}

// inTime fails when f takes longer than any machine should need for it.
func inTime(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > limit {
		t.Errorf("took %v, more than %v", took, limit)
	}
}

func TestLargeTexts(t *testing.T) {
	size, limit := 50<<20, 20*time.Second
	if testing.Short() {
		size = 5 << 20
	}
	old := randomText(1, size)
	few := bytes.Clone(old)
	for _, at := range []int{100, size / 2, size - 100} {
		few[at] = '!'
	}
	inTime(t, limit, func() {
		text, hidden, _ := Unified(old, few, Limits{Lines: 100})
		if strings.Count(text, "\n-") != 3 || strings.Count(text, "\n+") != 3 || hidden != 0 {
			t.Errorf("three changes give %d hidden lines and\n%s", hidden, text)
		}
	})
	inTime(t, limit, func() {
		text, hidden, _ := Unified(old[:size/10], randomText(2, size/10), Limits{})
		if total := plaintext.CountLines(old[:size/10]); hidden < total || Rows(text) > 12 {
			t.Errorf("%d rows shown of totally different texts of %d lines, %d hidden", Rows(text), total, hidden)
		}
	})
}

// Texts of very many lines are not compared line by line, and that is said.
func TestTooLargeForADiff(t *testing.T) {
	if testing.Short() {
		t.Skip("needs some 100 MB") // policy: testing.Short() asked
	}
	same := []byte("head\n")
	old := append(bytes.Clone(same), bytes.Repeat([]byte("a\n"), comparedLinesMax)...)
	now := append(bytes.Clone(same), bytes.Repeat([]byte("b\n"), comparedLinesMax-1)...)
	now = append(now, 'e')
	text, hidden, _ := Unified(old, now, Limits{Lines: 5})
	want := fmt.Sprintf("… too large for a diff: all that differs lies within %s lines, the first is line 2\n"+
		"@@ -2,%d +2,%d @@\n-a\n-a\n… %s more lines taken out\n+b\n+b\n… %s more lines put in\n",
		readable.Number(comparedLinesMax), comparedLinesMax, comparedLinesMax, readable.Number(comparedLinesMax-2), readable.Number(comparedLinesMax-2))
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	whole := &lineCounter{}
	if err := Full(whole, old, now, false); err != nil {
		t.Fatal(err)
	}
	if whole.lines-1 != 5+hidden {
		t.Errorf("%d rows in all, %d hidden", whole.lines-1, hidden)
	}
}

type lineCounter struct{ lines int }

func (c *lineCounter) Write(b []byte) (int, error) {
	c.lines += bytes.Count(b, []byte("\n"))
	return len(b), nil
}

// One line of many megabytes, which minifiers write.
func TestLongLine(t *testing.T) {
	old := bytes.Repeat([]byte("var a=1;"), 1<<20)
	now := bytes.Replace(old, []byte("a=1;var"), []byte("a=2;var"), 1)
	text, hidden, _ := Unified(old, now, Limits{})
	if len(text) > 1200 || hidden != 0 || !strings.Contains(text, "a=2") {
		t.Errorf("%d hidden:\n%s", hidden, text)
	}
	if err := Full(io.Discard, old, now, false); err != nil {
		t.Fatal(err)
	}
}
