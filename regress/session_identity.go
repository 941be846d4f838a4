package regress

import (
	"context"
	"maps"

	"muster/regress/internal/golden"
	"muster/regress/internal/job"
)

// identity says what must be the same to go on with an interrupted run, in
// words that an error can use.
func (s *session) identity(ctx context.Context) (map[string]string, error) {
	if err := s.in.ReadDigests(ctx); err != nil {
		return nil, err
	}
	id := map[string]string{}
	s.in.Identify(id)
	s.exec.Commands.Identify(id)
	s.tool.Identify(id)
	maps.Copy(id, job.IdentityFlags(&s.job.Options))
	if len(s.job.Command.PassEnv) > 0 {
		id["what --pass-env passes"] = job.DigestPassed(&s.job.Command).String()
	}
	return id, nil
}

// meta is what a golden tells about how it was made.
func (s *session) meta(ctx context.Context) (golden.Meta, error) {
	if err := s.in.ReadDigests(ctx); err != nil {
		return golden.Meta{}, err
	}
	m := golden.Meta{
		Corpus: s.in.Digests.Whole, CorpusPath: s.job.Corpus.Path, Env: s.job.Command.Env, Machine: golden.Machine(), MusterVersion: s.job.Version,
		Created: s.began, Repeat: s.job.Judge.Repeat, Flags: job.OutcomeFlags(&s.job.Options),
	}
	m.Preflight = s.exec.Crew.Preflight()
	if s.run != nil {
		m.Run = s.run.ID
	}
	m.Tool = s.tool.Recorded()
	if c := s.exec.Commands.Main; c != nil {
		m.Command = append(m.Command, golden.Command{Args: c.Words})
		m.Executable, m.ExecutableDigest = c.Path, s.tool.Digest(c.Path)
	}
	for _, g := range s.exec.Commands.ByGlob {
		m.Command = append(m.Command, golden.Command{Glob: g.Glob, Args: g.Command.Words})
	}
	return m, nil
}
