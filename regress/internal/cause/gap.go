package cause

import "bytes"

// A gapChange is a change of whitespace.
type gapChange struct {
	sort     gapSort
	old, now gapForm // of a gap between two tokens
}

// A gapSort is the place and the direction of a change of whitespace.
type gapSort uint8

const (
	between        gapSort = iota // two tokens
	alignment                     // the number of spaces that align something
	crlfToLF                      // ends of lines
	lfToCRLF                      //
	trailingLess                  // space at the end of a line
	trailingMore                  //
	trailingOther                 // as much, of another kind
	blankLess                     // blank lines
	blankMore                     //
	blankOther                    // their whitespace
	indentToSpaces                // indents
	indentToTab                   //
	indentMore                    //
	indentLess                    //
	indentOther                   //
)

// A gapForm is the content of a gap between two tokens.
type gapForm uint8

const (
	noSpace gapForm = iota
	oneSpace
	manySpaces
	someTab
	lineBreak
	otherSpace
)

// key returns the text of a change in patterns. It is part of the signatures of causes and must not
// change. name.go derives from it what people read.
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

// isBroken reports whether a line break between two tokens was added or removed.
func (c gapChange) isBroken() bool {
	return c.sort == between && (c.old == lineBreak || c.now == lineBreak)
}

// dependsOnPlace reports whether the place of the change matters. Formatters break lines and space
// signs by what they are in or beside. For indents and padding only their line matters.
func (c gapChange) dependsOnPlace() bool {
	return c.isOfBlankLines() || c.isBroken() || c.sort == between && c.old != someTab
}

// gapWithinLine returns the change of a gap between two tokens that has a line break on at most one
// side.
func gapWithinLine(a, b []byte, aLine, bLine int) gapChange {
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

func trailingSort(a, b []byte) gapSort {
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

func blankLineSort(a, b []byte) gapSort {
	x, y := bytes.Count(a, newline), bytes.Count(b, newline)
	switch {
	case x > y:
		return blankLess
	case x < y:
		return blankMore
	}
	return blankOther
}

func indentSort(a, b []byte) gapSort {
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
