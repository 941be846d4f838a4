package reduce

import (
	"time"
)

// Reduction says what to make smaller, and how far to go.
type Reduction struct {
	Target    string        // the ID of a cause, or the name of a case
	Run       string        // ID of the run, or its beginning; "" = the last
	Reference []string      // command that is trusted; nil = the one that the run compared with
	TestsMax  int           // 0 = no limit
	TimeMax   time.Duration // 0 = no limit
	Status    func(string)  // shows how far it is, and before results nothing; may be nil
}

// TimeDefault is the program's limit of the time for a reduction.
const TimeDefault = 10 * time.Minute
