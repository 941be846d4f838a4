package console

import (
	"muster/regress"
	"strings"
	"testing"
)

func TestCheckApart(t *testing.T) {
	for _, c := range []struct {
		golden string
		report regress.Report
		flag   string
	}{
		{"./a.tar", regress.Report{}, "--golden ./a.tar"},
		{"files.go", regress.Report{JUnit: "../console/files.go"}, "--junit ../console/files.go"},
		{"g", regress.Report{JUnit: "new/x", Events: "new/y/../x"}, "--events new/y/../x"},
	} {
		err := CheckApart(&c.report, File{"the corpus", "a.tar"}, File{"--golden", c.golden})
		if regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), c.flag+":") {
			t.Errorf("%s: %v", c.flag, err)
		}
	}
}
