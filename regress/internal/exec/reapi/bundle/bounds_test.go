package bundle

import (
	"muster/regress"
	"strings"
	"testing"
)

// A run sends so many files along and no more: an action's input would have no end.
func TestTooManyFiles(t *testing.T) {
	m := &making{Bundle: &Bundle{items: make([]item, filesMax-1)}}
	if err := m.add(item{source: "/last"}); err != nil {
		t.Error(err)
	}
	if err := m.add(item{source: "/a"}); regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "/a") {
		t.Errorf("%v", err)
	}
}
