package local

import (
	"errors"
	"fmt"
	"os"
	"time"
)

var (
	errSilent  = fmt.Errorf("%w: it gave no answer", errLaneDied)
	errStopped = fmt.Errorf("%w: it was stopped again and again", errLaneDied)
)

// await waits for the helper's next message, for the usual time of that message. After that it
// returns errSilent if the helper makes no progress for patience.answer. A helper that makes
// its lane's folder anew, or that waits for a CPU, makes progress and gets patience.load more.
//
// In a plain lane a case can stop its helper. await wakes the helper at each look, up to
// wakesMax times, and then returns errStopped. After any error the helper must be ended.
//
// It counts looks instead of reading the clock, so that no time passes while muster itself is
// stopped.
func (w *worker) await(usual time.Duration, decode func([]byte) error) error {
	p := &w.crew.o.patience
	var waited, idle time.Duration
	var before map[int]pulse
	for wakes := 0; ; waited += p.look {
		err := w.link.extendDeadline(p.look)
		if err == nil {
			err = w.link.receive(decode)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		helper, _ := readProcess(w.helper.Process.Pid)
		switch {
		case helper.stopped() && wakes == wakesMax:
			return errStopped
		case helper.stopped():
			wakes++
			w.wake()
		case waited >= usual:
			now := readPulses(helper)
			if idle += p.look; progressed(before, now) {
				idle = 0
			}
			before = now
			if idle >= p.answer || waited >= usual+p.answer+p.load {
				return errSilent
			}
		}
	}
}
