package lab

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDisturbance(t *testing.T) {
	const second = time.Second
	for what, c := range map[string]struct {
		elapsed, idle, own, stall time.Duration
		psi                       bool
		want                      float64
	}{
		"an idle machine":                        {second, second, second, 0, true, 0},
		"others use the second processor":        {second, 0, second, 0, true, 0},
		"others take half of both":               {second, 0, second, second, true, 0.5},
		"own threads wait for one another":       {second, 0, 2 * second, second, true, 0},
		"others, for a tenth of the time":        {second, second / 2, second, second / 10, true, 0.1},
		"others, and the kernel reports no wait": {second, 0, second, 0, false, 0.5},
		"a step of the clock":                    {second, second + tick, second, 0, true, -0.005},
	} {
		before := reading{at: time.Now(), cpus: 2, psi: true}
		after := reading{at: before.at.Add(c.elapsed), cpus: 2, idle: c.idle, own: c.own, stall: c.stall, psi: c.psi}
		if got, ok := after.disturbance(before); !ok || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v, %t, want %v", what, got, ok, c.want)
		}
	}
	now := time.Now()
	for what, after := range map[string]reading{"one tick": {at: now.Add(tick), cpus: 2}, "no processors": {at: now.Add(second)}} {
		if share, ok := after.disturbance(reading{at: now, cpus: 2}); ok {
			t.Errorf("%s gives a share of %v", what, share)
		}
	}
}

// A reading counts only the processors that this process may use.
func TestReading(t *testing.T) {
	proc := t.TempDir()
	for name, text := range map[string]string{
		"stat":         "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 0 1 100 20 0 0 0 0 0\ncpu1 1 0 1 1000 1 0 0 0 0 0\ncpu2 1 0 1 30 4 0 0 0 0 0\nintr 1 2 3 4 5 6\n",
		"self/status":  "Name:\tx\nCpus_allowed:\t5\nCpus_allowed_list:\t0,2-3\nMems_allowed:\t1\n",
		"pressure/cpu": "some avg10=0.00 avg60=0.01 avg300=0.13 total=3567911\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
	} {
		file := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := readProcessors(proc)
	if r.cpus != 2 || r.idle != 154*tick || r.stall != 3567911*time.Microsecond || !r.psi || r.own <= 0 {
		t.Errorf("%+v", r)
	}
	if r := readProcessors(t.TempDir()); r.cpus != 0 || r.psi {
		t.Errorf("without files: %+v", r)
	}
}
