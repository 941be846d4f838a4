package local

import (
	"runtime"
	"testing"
	"time"

	"muster/regress/internal/outcome"
)

// cost runs a script and returns what it cost.
func (r *rig) cost(text string) outcome.Cost {
	r.Helper()
	result, err := r.try("one.c", text)
	must(r, err)
	defer result.Release()
	return result.Cost
}

// TestCPU: all processes of a case count, those that nobody waited for too, and
// no others.
func TestCPU(t *testing.T) {
	const burnt = 60 * time.Millisecond
	burn := self("burn", "60")
	inBothModes(t, usual, func(r *rig) {
		for _, c := range []struct {
			text string
			want time.Duration
		}{
			{"exec " + burn, burnt},
			{burn + "; true", burnt},
			{burn + "; exec " + burn, 2 * burnt},
			{"(" + burn + "; : > done) & " + burn + "; while [ ! -e done ]; do :; done", 2 * burnt},
			{"((setsid sh -c '" + burn + "; : > done') &) & while [ ! -e done ]; do :; done; " + burn, 2 * burnt},
		} {
			if got := r.cost(c.text); got.CPU < c.want || got.Wall < burnt/2 {
				r.Errorf("%q took %v of CPU in %v, want at least %v", c.text, got.CPU, got.Wall, c.want)
			}
			if got := r.cost("true"); got.CPU >= burnt || got.CPU <= 0 || got.Wall <= 0 {
				r.Errorf("after %q nothing took %v of CPU, %v", c.text, got.CPU, got.Wall)
			}
		}
	})
}

// trueMax is the most that /bin/true may show, in KiB.
func trueMax() int64 {
	if underRace {
		return 32 << 10 // the detector's own memory
	}
	return 4 << 10
}

// TestPeakMemory: of the largest process of a case, however large muster is.
func TestPeakMemory(t *testing.T) {
	if !again(t, withNothing) {
		return
	}
	held, err := touched(1 << 10)
	must(t, err)
	inBothModes(t, usual, func(r *rig) {
		if floor := r.crew.Floor(); floor <= 0 || floor > trueMax() {
			r.Errorf("the floor is %d KiB", floor)
		}
		for _, c := range []struct {
			text     string
			min, max int64 // MiB
		}{
			{"exec /bin/true", 0, trueMax() >> 10},
			{"exec " + self("allocate", "50"), 50, 90},
			{self("allocate", "50") + " & wait; true", 50, 90},
			{self("allocate", "50") + " & " + self("allocate", "70") + "; wait", 70, 110},
			{"exec /bin/true", 0, trueMax() >> 10},
		} {
			if got := r.cost(c.text).PeakRSS; got < c.min<<10 || got > c.max<<10 {
				r.Errorf("%q shows %d KiB, want %d to %d MiB", c.text, got, c.min, c.max)
			}
		}
	})
	runtime.KeepAlive(held)
}
