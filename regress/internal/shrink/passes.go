package shrink

// A pass is one way to go over a source.
type pass struct {
	name  string
	begin func(source []byte) step // nil: nothing to try
}

// formsMax is the deepest nesting with a pass of its own.
const formsMax = 6

// cheapPasses returns the passes that remove much with few tests. Forms come first: half of a
// program's lines rarely is a program, half of its functions may be.
func cheapPasses() []pass {
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

// dearPasses returns the passes that need several times as many tests as the source has tokens.
func dearPasses() []pass {
	return []pass{{"runs of tokens", func(source []byte) step { return newRuns(source) }}}
}

// lastPasses returns the final passes. After them the others would find nothing new.
func lastPasses() []pass {
	return []pass{{"spaces", func(source []byte) step { return newTidying(source) }}}
}
