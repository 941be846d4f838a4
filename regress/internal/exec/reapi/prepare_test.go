package reapi

import (
	"slices"
	"testing"
)

// Of several LD_LIBRARY_PATH cases get the last. Relative folders have no library before a case runs.
func TestLibraryFolders(t *testing.T) {
	if got := libraryFolders([]string{"LD_LIBRARY_PATH=/first", "A=b", "LD_LIBRARY_PATH=.:/none:/libraries;/more"}); !slices.Equal(got, []string{"/none", "/libraries", "/more"}) {
		t.Errorf("%q", got)
	}
}
