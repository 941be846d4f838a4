package shrink

// A pass is one way to go over a source.
type pass struct {
	name  string
	begin func(source []byte) step // nil: there is nothing to try
}

// formsMax is the deepest nesting that has a pass of its own.
const formsMax = 6

// cheap are the passes that take much with few tests. Forms come first: a half of a
// program's lines is no program mostly, a half of its functions may be one.
func cheap() []pass {
	var list []pass
	for depth := range formsMax {
		cut := forms(depth)
		list = append(list, pass{"forms", func(source []byte) step {
			if depth > 0 && deepest(source) < depth {
				return nil
			}
			return newChunks(cut(source), true)
		}})
	}
	return append(list,
		pass{"lines", func(source []byte) step { return newChunks(lines(source), false) }},
		pass{"groups", func(source []byte) step { return newUnwrapping(source) }},
		pass{"tokens", func(source []byte) step { return newChunks(words(source), false) }},
	)
}

// dear are those whose tests are about as many as there are tokens, several times.
func dear() []pass {
	return []pass{{"runs of tokens", func(source []byte) step { return newRuns(source) }}}
}

// last are those after which the others would find no more than before.
func last() []pass {
	return []pass{{"spaces", func(source []byte) step { return newTidying(source) }}}
}
