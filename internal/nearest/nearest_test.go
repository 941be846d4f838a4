package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"muster/internal/nearest"
)

func TestNames(t *testing.T) {
	known := []string{"net/dial.go", "net/dialer.go", "os/file.go", "cmd/net/dial.go", "a", "ab"}
	for name, want := range map[string][]string{
		"net/dail.go":            {"net/dial.go"},
		"dial.go":                {"net/dial.go", "cmd/net/dial.go"},
		"net/dial.go":            {"net/dial.go", "net/dialer.go"},
		"b":                      {"ab"},
		"os/fi":                  {"os/file.go"},
		"dialer":                 {"net/dialer.go"},
		"di":                     nil,
		"nothing.like":           nil,
		strings.Repeat("x", 300): nil,
	} {
		if got := nearest.Names(name, known, 2); !slices.Equal(got, want) {
			t.Errorf("Names(%q) = %q, want %q", name, got, want)
		}
	}
}
