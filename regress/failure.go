package regress

// Failure is a case that did not exit with 0 when it was recorded.
type Failure struct {
	Name   string `line:"name,name"`
	Ending Ending `line:"ended" v1:"ending"`
	Line   string `line:"error" v1:"line"` // the first line of its error output; "" if it printed nothing
}
