package regress

import (
	"muster/regress/internal/golden"
	"muster/regress/internal/sample"
)

// newSample prepares to run a sample of finished cases again. On an engine no sample is needed:
// the preflight detects another tool.
func newSample(s *session, m golden.Meta, retries int) *sample.Sample {
	return sample.New(sample.Options{
		Run: s.run, Meta: m, Executor: s.exec.Executor, Goroutines: s.exec.Crew.Width().Goroutines,
		Comparer: s.comparer, Retries: retries, Note: s.events.Note,
	})
}
