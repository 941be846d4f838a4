package cause

import "bytes"

// A gapChange is how whitespace changed.
type gapChange struct {
	sort     gapSort
	old, now gapForm // of a gap between two tokens
}

// A gapSort is where whitespace changed, and how.
type gapSort uint8

const (
	between        gapSort = iota // two tokens
	alignment                     // spaces, and another number of them
	crlfToLF                      // ends of lines
	lfToCRLF                      //
	trailingLess                  // space at the end of a line
	trailingMore                  //
	trailingOther                 // as much of another kind
	blankLess                     // blank lines
	blankMore                     //
	blankOther                    // what is on them
	indentToSpaces                // indents
	indentToTab                   //
	indentMore                    //
	indentLess                    //
	indentOther                   //
)

// A gapForm is what a gap between two tokens consists of.
type gapForm uint8

const (
	noSpace gapForm = iota
	oneSpace
	manySpaces
	someTab
	lineBreak
	otherSpace
)

// key is what a pattern has of a change. It is in the signatures of causes, and stays: what
// people read is made of it in name.go.
func (c gapChange) key() string {
	if c.sort == between {
		return c.old.key() + " → " + c.now.key()
	}
	return [...]string{
		alignment: "alignment", crlfToLF: "line end CRLF → LF", lfToCRLF: "line end LF → CRLF",
		trailingLess: "trailing space −", trailingMore: "trailing space +", trailingOther: "trailing space",
		blankLess: "blank line −", blankMore: "blank line +", blankOther: "blank line",
		indentToSpaces: "indent tab → spaces", indentToTab: "indent spaces → tab",
		indentMore: "indent +", indentLess: "indent −", indentOther: "indent",
	}[c.sort]
}

func (f gapForm) key() string {
	return [...]string{noSpace: "no space", oneSpace: "space", manySpaces: "spaces", someTab: "tab", lineBreak: "line break", otherSpace: "other space"}[f]
}

func (c gapChange) isOfBlankLines() bool {
	return c.sort == blankLess || c.sort == blankMore || c.sort == blankOther
}

func (c gapChange) isOfIndent() bool { return c.sort >= indentToSpaces }

// isBroken reports whether a line was broken between two tokens, or two were joined.
func (c gapChange) isBroken() bool {
	return c.sort == between && (c.old == lineBreak || c.now == lineBreak)
}

// isTelling reports whether it says something where a change was made: a formatter breaks
// lines and spaces signs by what they are in or beside. Of indents and padding only the line
// that they are on does.
func (c gapChange) isTelling() bool {
	return c.isOfBlankLines() || c.isBroken() || c.sort == between && c.old != someTab
}

// within returns the change of the gap between two tokens where at most one side has the
// end of a line.
func within(a, b []byte, aLine, bLine int) gapChange {
	switch {
	case aLine >= 0:
		return gapChange{between, lineBreak, formOf(b)}
	case bLine >= 0:
		return gapChange{between, formOf(a), lineBreak}
	case len(a) > 1 && len(b) > 1 && !bytes.ContainsAny(a, "\t") && !bytes.ContainsAny(b, "\t"):
		return gapChange{sort: alignment}
	}
	return gapChange{between, formOf(a), formOf(b)}
}

// formOf returns the form of a gap within a line.
func formOf(b []byte) gapForm {
	switch {
	case len(b) == 0:
		return noSpace
	case bytes.IndexByte(b, '\t') >= 0:
		return someTab
	case bytes.ContainsAny(b, "\r\v\f"):
		return otherSpace
	case len(b) == 1:
		return oneSpace
	}
	return manySpaces
}

func trailing(a, b []byte) gapSort {
	switch {
	case string(a) == "\r" && len(b) == 0:
		return crlfToLF
	case len(a) == 0 && string(b) == "\r":
		return lfToCRLF
	case len(a) > len(b):
		return trailingLess
	case len(a) < len(b):
		return trailingMore
	}
	return trailingOther
}

func blankLines(a, b []byte) gapSort {
	x, y := bytes.Count(a, newline), bytes.Count(b, newline)
	switch {
	case x > y:
		return blankLess
	case x < y:
		return blankMore
	}
	return blankOther
}

func indent(a, b []byte) gapSort {
	tabs, now := bytes.Count(a, []byte("\t")), bytes.Count(b, []byte("\t"))
	switch {
	case tabs > 0 && now == 0 && len(b) > 0:
		return indentToSpaces
	case tabs == 0 && now > 0 && len(a) > 0:
		return indentToTab
	case len(a) < len(b):
		return indentMore
	case len(a) > len(b):
		return indentLess
	}
	return indentOther
}
