package shrink

import "slices"

// runsMax is the longest run of tokens that is tried at every place. runsOf is the largest source
// for that, in tokens.
const (
	runsMax = 8
	runsOf  = 4096
)

// runs removes size tokens at every place. It finds runs across the borders of chunks, such as
// "else if (".
type runs struct {
	text   []byte
	tokens []token
	size   int
	end    int // the end of the next run
}

func newRuns(text []byte) step {
	r := runs{text: text, tokens: tokens(text), size: runsMax}
	if len(r.tokens) > runsOf {
		return nil
	}
	r.end = len(r.tokens)
	return r.nextAllowed()
}

func (r runs) candidate() []byte {
	return slices.Concat(r.text[:r.tokens[r.end-r.size].from], r.text[r.tokens[r.end-1].to:])
}

func (r runs) next(shows bool) step {
	if !shows {
		r.end--
		return r.nextAllowed()
	}
	r.text = r.candidate()
	r.tokens = tokens(r.text) // two words may have become one
	r.end = min(r.end-1, len(r.tokens))
	return r.nextAllowed()
}

func (r runs) nextAllowed() step {
	for r.end < r.size || r.size >= len(r.tokens) {
		if r.size == 1 {
			return nil
		}
		r.size, r.end = r.size-1, len(r.tokens)
	}
	return r
}

func (r runs) part() float64 { return 1 - float64(r.end)/float64(max(1, len(r.tokens))) }
