package hole

import (
	"fmt"
	"strings"
	"testing"
)

// A text of 4 KB with a time stamp in its first line, as a code generator may write it.
func BenchmarkTimeStamp(b *testing.B) {
	var lines strings.Builder
	for i := range 120 {
		fmt.Fprintf(&lines, "int v%d = call(%d, \"text\");\n", i, i)
	}
	at := func(second int) []byte {
		return []byte(fmt.Sprintf("/* made at 12:00:%02d */\n", second) + lines.String())
	}
	first, second, now := at(1), at(2), at(3)
	b.Run("Find", func(b *testing.B) {
		for b.Loop() {
			Find(first, second)
		}
	})
	p := Find(first, second)
	b.Run("Fits", func(b *testing.B) {
		for b.Loop() {
			if !p.Fits(now) {
				b.Fatal("it does not fit")
			}
		}
	})
}
