package shrink

import "slices"

// unwrapping goes from bracket pair to bracket pair. It removes the pair with its content, the
// content, or the pair alone.
type unwrapping struct {
	text   []byte
	tokens []token
	groups []group
	at     int // index in groups
	way    way
}

type way int

const (
	whole way = iota
	inside
	around
	ways
)

func newUnwrapping(text []byte) step {
	return unwrapping{at: 0}.over(text).nextAllowed()
}

// over returns the same place in another source.
func (u unwrapping) over(text []byte) unwrapping {
	u.text, u.tokens = text, tokens(text)
	u.groups = groups(u.tokens)
	return u
}

func (u unwrapping) candidate() []byte {
	g := u.groups[u.at]
	open, end := u.tokens[g.open], u.tokens[g.close]
	switch u.way {
	case whole:
		return slices.Concat(u.text[:open.from], u.text[end.to:])
	case inside:
		return slices.Concat(u.text[:open.at+1], u.text[end.at:])
	}
	// The spaces before a bracket remain: they may separate two words.
	return slices.Concat(u.text[:open.at], u.text[open.at+1:end.at], u.text[end.at+1:])
}

func (u unwrapping) next(shows bool) step {
	switch {
	case !shows:
		u.way++
	case u.way == inside:
		u = u.over(u.candidate())
		u.way++
	default: // what was in or behind the pair has taken its place
		u = u.over(u.candidate())
		u.way = whole
	}
	return u.nextAllowed()
}

// nextAllowed goes on to the next thing that can be removed.
func (u unwrapping) nextAllowed() step {
	for {
		if u.way == ways {
			u.at, u.way = u.at+1, whole
		}
		if u.at >= len(u.groups) {
			return nil
		}
		g := u.groups[u.at]
		if u.way != inside || u.tokens[g.open].at+1 < u.tokens[g.close].at {
			return u
		}
		u.way++
	}
}

func (u unwrapping) part() float64 { return float64(u.at) / float64(max(1, len(u.groups))) }
