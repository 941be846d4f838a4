package doctor

import (
	"bytes"
	"strings"
	"testing"

	"muster/regress/internal/exec/local"
)

// Each remark of lanes becomes a finding with a mend. The texts of the remarks are those of a run.
func TestLaneFindings(t *testing.T) {
	for text, mend := range map[string]string{
		local.WithoutNamespaces + " (operation not permitted): their folders' paths are rewritten": "allow user namespaces",
		local.WorkElsewhere + " /tmp: /dev/shm is not a file system in memory":                     "make /dev/shm larger",
		"not all of 2 lanes have inotify: raise fs.inotify.max_user_instances":                     "",
	} {
		found := laneFindings([]string{text}, 2)
		if len(found) != 1 || found[0].State != Limited || found[0].Text != text || !strings.HasPrefix(found[0].Mend, mend) || mend == "" && found[0].Mend != "" {
			t.Errorf("%q: %+v", text, found)
		}
	}
	if found := laneFindings(nil, 2); len(found) != 1 || found[0].State != OK {
		t.Errorf("without remarks: %+v", found)
	}
}

// Only what record and check need decides whether they work.
func TestWrite(t *testing.T) {
	list := []Finding{
		{Name: "lanes", For: Cases, Text: "2 lanes"},
		{Name: "state", For: Cases, State: Limited, Text: "little room", Mend: "free space"},
		{Name: "Rust", For: Lab, State: Failed, Text: "none", Mend: "install it"},
	}
	const want = `for record and check:
  ok       lanes        2 lanes
  limited  state        little room
                        → free space
for lab:
  failed   Rust         none
                        → install it

record and check work on this machine
`
	var text, failing bytes.Buffer
	if err := Write(&text, list); err != nil || text.String() != want || !CanRunCases(list) {
		t.Errorf("%v\n%s\nwant\n%s", err, text.String(), want)
	}
	list[1].State = Failed
	if err := Write(&failing, list); err != nil || !strings.HasSuffix(failing.String(), ": fix the lines marked failed\n") || CanRunCases(list) {
		t.Errorf("%v\n%s", err, failing.String())
	}
}
