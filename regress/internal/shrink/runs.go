package shrink

import "slices"

// runsMax is the longest run of tokens that is tried at every place, and runsOf the
// largest source, in tokens, for which that is worth it.
const (
	runsMax = 8
	runsOf  = 4096
)

// runs leaves out as many tokens as size, at every place: what chunks that lie side by
// side do not hit, "else if (" say.
type runs struct {
	text   []byte
	tokens []token
	size   int
	end    int // the next to go are those before it
}

func newRuns(text []byte) step {
	r := runs{text: text, tokens: tokens(text), size: runsMax}
	if len(r.tokens) > runsOf {
		return nil
	}
	r.end = len(r.tokens)
	return r.settled()
}

func (r runs) candidate() []byte {
	return slices.Concat(r.text[:r.tokens[r.end-r.size].from], r.text[r.tokens[r.end-1].to:])
}

func (r runs) next(shows bool) step {
	if !shows {
		r.end--
		return r.settled()
	}
	r.text = r.candidate()
	r.tokens = tokens(r.text) // two words may have become one
	r.end = min(r.end-1, len(r.tokens))
	return r.settled()
}

func (r runs) settled() step {
	for r.end < r.size || r.size >= len(r.tokens) {
		if r.size == 1 {
			return nil
		}
		r.size, r.end = r.size-1, len(r.tokens)
	}
	return r
}

func (r runs) part() float64 { return 1 - float64(r.end)/float64(max(1, len(r.tokens))) }
