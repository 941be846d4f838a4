package console

import (
	"strings"
	"testing"

	"muster/regress/internal/fault"
	"muster/regress/internal/opt"
)

func TestCheckApart(t *testing.T) {
	for _, c := range []struct {
		golden string
		report opt.Report
		flag   string
	}{
		{"./a.tar", opt.Report{}, "--golden ./a.tar"},
		{"files.go", opt.Report{JUnit: "../console/files.go"}, "--junit ../console/files.go"},
		{"g", opt.Report{JUnit: "new/x", Events: "new/y/../x"}, "--events new/y/../x"},
	} {
		err := CheckApart(&c.report, File{"the corpus", "a.tar"}, File{"--golden", c.golden})
		if fault.ClassOf(err) != fault.Input || !strings.HasPrefix(err.Error(), c.flag+":") {
			t.Errorf("%s: %v", c.flag, err)
		}
	}
}
