package corpora

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The sizes of the corpora are exactly those in the README.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 1 GB")
	}
	page, err := os.ReadFile("../../bench/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Spec{Large(), Mid(), Small(), Many()} {
		sizes, total := make([]int, s.Cases), 0
		for i := range sizes {
			sizes[i] = len(entry{i, false}.content(s))
			total += sizes[i]
		}
		slices.Sort(sizes)
		row := fmt.Sprintf("| %s | %d | %d | %d | %d |", s.Name, s.Cases, total/s.Cases, sizes[s.Cases/2], sizes[s.Cases-1])
		if !strings.Contains(string(page), row) {
			t.Errorf("bench/README.md does not have\n%s", row)
		}
	}
}
