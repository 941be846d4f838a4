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

// await waits for the helper's next message, which may take as long as usual. After that
// it returns errSilent when the helper makes no progress for patience.answer. A helper that
// lays its lane anew, or that waits for a CPU, makes progress and gets patience.load more.
//
// In a plain lane a case can stop its helper. await wakes the helper at each look, up to
// wakesMax times, and then returns errStopped. After any error the helper must be ended.
//
// Time counts in looks, so that it stands still while muster itself is stopped.
func (w *worker) await(usual time.Duration, decode func([]byte) error) error {
	p := &w.crew.o.patience
	var waited, idle time.Duration
	var before map[int]pulse
	for wakes := 0; ; waited += p.look {
		err := w.link.await(p.look)
		if err == nil {
			err = w.link.next(decode)
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
			now := pulses(helper)
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
