package lane

import "errors"

// runBatch runs the jobs of a batch and answers each. It ends the batch after a case that
// should not make the others wait. over says that the helper must end.
func (h *helper) runBatch(jobs []Job) (over bool, err error) {
	h.pendingBytes = 0
	for i := range jobs {
		d := h.runJob(&jobs[i])
		if h.orphaned {
			return true, nil // nobody reads an answer, and writing one would raise a signal
		}
		h.pendingBytes += h.setup.OutputMax - h.outputLeft
		d.BatchEnds = i == len(jobs)-1 || !h.mayContinue(&d)
		if err := h.answers.add(&d); err != nil || d.HelperEnds {
			return true, err
		}
		if d.Stuck {
			return false, nil // the parent inspects what still runs, and hangs up
		}
		if err := h.restoreLane(); err != nil {
			return true, errors.Join(err, h.answers.send())
		}
		if d.BatchEnds {
			break
		}
	}
	return false, nil
}

// mayContinue reports whether the next case of a batch may begin after d, before the parent
// has collected the outputs.
func (h *helper) mayContinue(d *Answer) bool {
	const untakenMax = 8 << 20 // bytes
	return d.Fault == "" && !d.HelperEnds && d.Kind <= Signalled && d.Wall < tick &&
		h.pendingBytes <= untakenMax && h.freeBytes/2 >= h.setup.OutputMax
}

// answerQueue holds answers of a batch until they are sent together, because each message
// wakes the parent. They are sent when the batch ends, when they have many bytes, and when a
// case turns out to take longer.
type answerQueue struct {
	encoded, waiting []byte // buffers, reused
}

func (a *answerQueue) add(d *Answer) error {
	a.encoded = d.AppendFrame(a.encoded)
	a.waiting = append(a.waiting, a.encoded...)
	if d.BatchEnds || len(a.waiting) > InlineMax {
		return a.send()
	}
	return nil
}

func (a *answerQueue) send() error {
	if len(a.waiting) == 0 {
		return nil
	}
	err := writeFull(AnswersFD, a.waiting)
	a.waiting = a.waiting[:0]
	if cap(a.waiting) > bufferBytesKept {
		a.encoded, a.waiting = nil, nil
	}
	return err
}
