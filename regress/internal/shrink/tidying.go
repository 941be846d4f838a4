package shrink

import "bytes"

// tidying removes unneeded spaces for the reader: those at the beginning, indentation, blank lines,
// and all but one between two tokens. It comes last.
type tidying struct {
	text  []byte
	spare []gap // the gaps that may still go, in order
	size  int   // gaps at a time
	end   int   // the end of the next gaps
}

// A gap is a run of spaces whose last bytes, or all, are redundant.
type gap struct {
	from, to int
	kept     string
}

func newTidying(text []byte) step {
	t := tidying{text: text, spare: spare(text)}
	t.size, t.end = len(t.spare), len(t.spare)
	return t.nextAllowed()
}

// spare lists the gaps of a source that have redundant spaces.
func spare(text []byte) (list []gap) {
	add := func(from, to int, kept string) {
		if to-from > len(kept) {
			list = append(list, gap{from, to, kept})
		}
	}
	toks := tokens(text)
	for i, t := range toks {
		switch {
		case i == 0:
			add(t.from, t.at, "")
		case t.newline:
			add(t.from, t.at, "\n")
		default:
			add(t.from, t.at, " ")
		}
	}
	if words := bytes.TrimRight(text, " \t\n\v\f\r"); len(words) > 0 {
		end := ""
		if bytes.Contains(text[len(words):], []byte("\n")) {
			end = "\n"
		}
		add(len(words), len(text), end)
	}
	return list
}

func (t tidying) from() int { return max(0, t.end-t.size) }

func (t tidying) candidate() []byte {
	var text []byte
	at := 0
	for _, g := range t.spare[t.from():t.end] {
		text = append(append(text, t.text[at:g.from]...), g.kept...)
		at = g.to
	}
	return append(text, t.text[at:]...)
}

func (t tidying) next(shows bool) step {
	from := t.from()
	if shows {
		less := len(t.text)
		t.text = t.candidate()
		less -= len(t.text)
		rest := append([]gap(nil), t.spare[:from]...)
		for _, g := range t.spare[t.end:] {
			rest = append(rest, gap{g.from - less, g.to - less, g.kept})
		}
		t.spare = rest
	}
	t.end = from
	return t.nextAllowed()
}

func (t tidying) nextAllowed() step {
	for t.end == 0 {
		if t.size <= 1 || len(t.spare) == 0 {
			return nil
		}
		t.size, t.end = (t.size+1)/2, len(t.spare)
	}
	return t
}

func (t tidying) part() float64 { return 1 - float64(t.end)/float64(max(1, len(t.spare))) }
