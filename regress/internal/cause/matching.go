package cause

// matches reports whether the elements begin with those of a side. Slots that are already filled
// must match their contents.
func matches(side, es []piece, slots []piece) ([]piece, bool) {
	if len(side) > len(es) {
		return slots, false
	}
	for i, s := range side {
		if s.kind != slot && s.kind != digits {
			if s != es[i] {
				return slots, false
			}
			continue
		}
		if (s.kind == slot) != (es[i].kind == word) || (s.kind == digits) != (es[i].kind == number) {
			return slots, false
		}
		n := int(s.text[0] - '0')
		if len(s.text) > 1 {
			n = 10*n + int(s.text[1]-'0')
		}
		for len(slots) < n {
			slots = append(slots, piece{})
		}
		if slots[n-1].kind == 0 {
			slots[n-1] = es[i]
		} else if slots[n-1] != es[i] {
			return slots, false
		}
	}
	return slots, true
}

// isShape reports whether the shape t stands for the pattern p.
func isShape(t, p *pattern) bool {
	if t.sort != p.sort || t.in != p.in || len(t.old) != len(p.old) || len(t.now) != len(p.now) {
		return false
	}
	slots, ok := matches(t.old, p.old, nil)
	if !ok {
		return false
	}
	_, ok = matches(t.now, p.now, slots)
	return ok
}
