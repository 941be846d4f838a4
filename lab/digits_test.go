package lab_test

import (
	"strings"
	"testing"

	"muster/lab"
	"muster/lab/results"
)

// Numbers have three significant digits, however small they are. A figure of one run has no
// interval.
func TestDigits(t *testing.T) {
	o := tinyChannel(options(t, 1))
	o.Procs, o.Cycles, o.Processes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, []int{0}, 0
	r := &lab.Results{}
	for i, v := range []float64{0, 0.00001234, 0.0012345, 0.01749, 0.9876, 1.2345, 12.345, 123.45, 123456} {
		r.Samples = append(r.Samples, results.Sample{Name: lab.ChannelName(0, 0, i+1, 0), N: 1, Values: []results.Value{{Unit: "s/portion", Figure: v}}})
	}
	text, _, _ := render(t, r, lab.ChannelReport(r, o))
	_, table, _ := strings.Cut(text, "seconds for 100,000 items\n\n")
	var got []string
	for line := range strings.Lines(table) {
		if words := strings.Fields(line); len(words) > 1 && len(words[0]) == 1 {
			got = append(got, words[1])
		}
		if len(got) == 9 {
			break
		}
	}
	if want := "0 1.23e-05 0.00123 0.0175 0.988 1.23 12.3 123 123,456"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s in:\n%s", got, want, text)
	}
	if strings.Contains(text, "±0") {
		t.Errorf("one run has an interval:\n%s", text)
	}
}
