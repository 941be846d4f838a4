package rule

// A Budget bounds what rules cost: by counted steps, and by the clock of the caller. The clock is not read before
// the first Free steps. So the rules of a small check do not depend on how busy the machine is.
type Budget struct {
	Free int64
	Over func() bool // whether the time is over; nil for no such bound

	steps, read int64 // taken so far, and when the clock was read
	isOver      bool
}

// clockSteps is how many steps pass between two looks at the clock.
const clockSteps = 50_000

// take takes steps, and reports whether there is time for them. A step is some nanoseconds.
func (b *Budget) take(steps int) bool {
	b.steps += int64(steps)
	if !b.isOver && b.Over != nil && b.steps >= b.Free && b.steps-b.read >= clockSteps {
		b.read, b.isOver = b.steps, b.Over()
	}
	return !b.isOver
}

// TakeCase takes the steps of reading a case from the disk, and reports whether there is time for them.
func (b *Budget) TakeCase() bool { return b.take(readSteps) }

// What one thing costs, in steps.
const (
	readSteps      = 20_000
	byteSteps      = 4   // to divide a text
	changeSteps    = 500 // the normal form of an edit
	editSteps      = 20  // to compare an edit with the matches of a rule
	contextSteps   = 60  // the facts about a place
	candidateSteps = 500 // a way to generalise a change
	factSteps      = 8   // to count a fact of a place
)

// These bound the steps of one rule and of one case, so that a single one cannot use all the time.
const (
	learnStepsMax = 200_000_000
	caseStepsMax  = 100_000_000
)
