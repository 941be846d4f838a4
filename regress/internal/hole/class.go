package hole

// A Class is what the texts of a hole have in common, from narrow to wide.
type Class uint8

// The closed set of classes.
const (
	Order    Class = iota // the same lines or words, in any order
	Time                  // a date, a time of day or both
	Address               // a hexadecimal number with 0x
	UUID                  // five groups of hexadecimal digits
	TempPath              // a path below /tmp or /var/tmp
	Duration              // numbers with units of time
	Hex                   // at least 8 hexadecimal digits
	Number                // digits, perhaps with a decimal point
	Free                  // anything: its text is not checked
	classes
)

var classNames = [classes]string{"another order", "time", "address", "UUID", "temporary path", "duration", "hexadecimal digits", "number", "free text"}

// String returns the name of the class.
func (c Class) String() string { return classNames[c] }

// mark stands for a hole in texts for people.
func (c Class) mark() string { return "⟨" + c.String() + "⟩" }

// A Count counts the lines of a pattern.
type Count struct {
	All     int  // lines of the first text; a hole for lines counts as many as it had in any text
	Holes   int  // lines with a hole
	Free    int  // of Holes: lines with free text
	IsWhole bool // nothing is compared: the text is one hole
}
