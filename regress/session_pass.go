package regress

// onePerLane reports whether a lane gets one task at once: with --fail-fast, what a lane has
// would still run, and an engine has its own queue.
func onePerLane(s *session) bool { return s.job.Select.FailFast > 0 || s.exec.Crew.Width().Alone }
