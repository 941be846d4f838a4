package results_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"muster/lab/results"
)

// Files of the first version must stay readable.
func TestFirstFormat(t *testing.T) {
	text, err := os.ReadFile("testdata/results.v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, err := results.Read(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	const single = "Dispatch/impl=muster/mode=single/jobs=2/tasks=1000/procs=1"
	if got, want := r.Figures(single, "cpu-ns/op"), []float64{26.25, 25.25}; !reflect.DeepEqual(got, want) {
		t.Errorf("figures %v, want %v", got, want)
	}
	absent := []results.Absent{{Name: "Dispatch/impl=tbb-group/mode=barrier/jobs=2/tasks=1000", Why: "does not end"}}
	missing := []results.Missing{{Peer: "java", Reason: "no JDK here: odd", Install: "apt-get install default-jdk-headless"}}
	if !reflect.DeepEqual(r.Absent, absent) || !reflect.DeepEqual(r.Missing, missing) || len(r.Conditions) != 5 {
		t.Errorf("%+v", r)
	}
	var again strings.Builder
	if err := r.Write(&again); err != nil || again.String() != string(text) {
		t.Errorf("written again, %v:\n%s", err, again.String())
	}
	_, err = results.Read(strings.NewReader(strings.Replace(string(text), "muster-lab-1", "muster-lab-2", 1)))
	if err == nil || !strings.Contains(err.Error(), `"muster-lab-2"`) {
		t.Errorf("a later format: %v", err)
	}
}
