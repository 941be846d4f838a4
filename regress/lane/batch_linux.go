package lane

import "errors"

// work runs the jobs of a batch and answers each, until one should not make the
// others wait. over says that the helper is to end.
func (h *helper) work(jobs []Job) (over bool, err error) {
	h.untaken = 0
	for i := range jobs {
		d := h.do(&jobs[i])
		if h.orphaned {
			return true, nil // nobody to tell, and trying would be a signal
		}
		h.untaken += h.setup.OutputMax - h.room
		d.End = i == len(jobs)-1 || !h.goesOn(&d)
		if err := h.answers.add(&d); err != nil || d.Last {
			return true, err
		}
		if d.Stuck {
			return false, nil // the parent looks at what is left, and hangs up
		}
		if err := h.settle(); err != nil {
			return true, errors.Join(err, h.answers.send())
		}
		if d.End {
			break
		}
	}
	return false, nil
}

// goesOn reports whether the next case of a batch may begin, when one has come to d,
// before the parent takes what there is.
func (h *helper) goesOn(d *Done) bool {
	const untakenMax = 8 << 20 // bytes
	return d.Fault == "" && !d.Last && d.Kind <= Signalled && d.Wall < tick &&
		h.untaken <= untakenMax && h.free/2 >= h.setup.OutputMax
}

// answers are those of a batch on their way to the parent. They go together, for
// each that goes alone wakes it: when the batch ends, when there are many bytes of
// them, and when a case turns out to take longer.
type answers struct {
	one, waiting []byte // buffers, used again
}

func (a *answers) add(d *Done) error {
	a.one = d.AppendFrame(a.one)
	a.waiting = append(a.waiting, a.one...)
	if d.End || len(a.waiting) > InlineMax {
		return a.send()
	}
	return nil
}

func (a *answers) send() error {
	if len(a.waiting) == 0 {
		return nil
	}
	err := writeFull(AnswersFD, a.waiting)
	a.waiting = a.waiting[:0]
	if cap(a.waiting) > bufferBytesKept {
		a.one, a.waiting = nil, nil
	}
	return err
}
