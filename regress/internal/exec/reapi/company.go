package reapi

import "time"

// A result may wait for others, so that one request reads all their folders: much of the cost
// of a case is waking up for it. The wait is a part of the execution's own time, which makes no
// difference for the whole run.
const (
	companyPart = 8
	companyMax  = 250 * time.Millisecond
)

// companyWait returns how long a result may wait. It is 0 if no other result is expected.
func (run *actionRun) companyWait(resp response) time.Duration {
	if resp.cached || run.exclusive || run.engine.State().InFlight < 2*companyPart {
		return 0
	}
	return min(resp.asked/companyPart, companyMax)
}
