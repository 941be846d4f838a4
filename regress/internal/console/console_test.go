package console

import (
	"io"
	"os"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/host"
)

// An error about a report begins with its flag, whichever step failed.
func TestOpenNamesTheFlag(t *testing.T) {
	for flag, r := range map[string]regress.Report{
		"--events: ": {Events: "/dev/full"}, "--junit: ": {JUnit: os.DevNull}, "--events: open ": {Events: "no/such/folder"},
	} {
		_, err := Open(&r, host.Host{Stdout: io.Discard, Stderr: io.Discard})
		if err == nil || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("%v, want it to begin with %s", err, flag)
		}
	}
}
