package run

// Forget withdraws all verdicts of a run whose tool changed while cases ran: some may be of another tool. It removes the
// folder, so that nothing resumes the run. Emit report.Started before, which begins the reports anew.
func (r *Run) Forget() error {
	was := *r.Ledger
	*r.Ledger = Ledger{Summary: was.begun, begun: was.begun, events: was.events, unused: was.unused}
	r.Ledger.Summary.CPU = was.Summary.CPU
	folder := r.Folder
	r.Folder = nil
	return folder.Remove()
}
