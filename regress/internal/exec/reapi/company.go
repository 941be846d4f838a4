package reapi

import "time"

// A result may wait for others for a part of the time that its execution took, for their
// folders to be read by one request: who looks at the whole run does not notice, and much of
// what a case costs is to wake up for it.
const (
	companyPart = 8
	companyMax  = 250 * time.Millisecond
)

// companyWait is how long a result may wait. Where no other is to be expected it is 0.
func (run *actionRun) companyWait(resp response) time.Duration {
	if resp.cached || run.exclusive || run.engine.State().InFlight < 2*companyPart {
		return 0
	}
	return min(resp.asked/companyPart, companyMax)
}
