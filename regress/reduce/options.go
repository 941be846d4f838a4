package reduce

import (
	"time"
)

// Options says what to make smaller, and how far to go.
type Options struct {
	Target    string        // the ID of a cause, or the name of a case
	Run       string        // ID of the run, or its beginning; "" = the last
	Reference []string      // command that is trusted; nil = the one that the run compared with
	TestsMax  int           // 0 = no limit
	TimeMax   time.Duration // 0 = no limit
	Status    func(string)  // called with a text of the progress, and with "" before results are printed; may be nil
}

// TimeDefault is the program's limit of the time for a reduction.
const TimeDefault = 10 * time.Minute
