package hole

// A Count counts the lines of a pattern.
type Count struct {
	All     int // lines of the first text; a hole for lines counts as many as it had in any text
	Holes   int // lines with a hole
	Free    int // of Holes: lines with free text
	IsWhole bool
}
