package tool_test

import (
	"path/filepath"
	"testing"

	muster "muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/tool"
)

// BenchmarkGuess is the time that the identity of a tool takes when all digests are known.
func BenchmarkGuess(b *testing.B) {
	for _, words := range [][]string{{"gcc", "-c", "{in}"}, {"gofmt", "{in}"}, {"python3", "{in}"}} {
		b.Run(words[0], func(b *testing.B) {
			c, err := muster.Resolve(words, false, false)
			if err != nil {
				b.Fatal(err)
			}
			cache := filepath.Join(b.TempDir(), "digests.json")
			for b.Loop() {
				if _, err := tool.Guess(b.Context(), tool.Options{Commands: []*muster.Command{c}, Digests: filedigest.Open(cache)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
