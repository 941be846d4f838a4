package run

import (
	"context"
	"maps"
	"os"

	"muster/regress/internal/golden"
	"muster/regress/internal/job"
)

// Identity returns what must be the same to resume the run.
func (r *Run) Identity(ctx context.Context) (map[string]string, error) {
	if err := r.Inputs.ReadDigests(ctx); err != nil {
		return nil, err
	}
	id := map[string]string{}
	r.Inputs.Identify(id)
	r.Execution.Commands.Identify(id)
	r.Tool.Identify(id)
	if !r.Execution.Crew.IsRemote() {
		id[pathKey] = os.Getenv("PATH")
	}
	maps.Copy(id, job.IdentityFlags(&r.Job.Options))
	if len(r.Job.Command.PassEnv) > 0 {
		id["what --pass-env passes"] = job.DigestPassed(&r.Job.Command).String()
	}
	return id, nil
}

// Meta returns what a golden keeps of how it was made.
func (r *Run) Meta(ctx context.Context) (golden.Meta, error) {
	if err := r.Inputs.ReadDigests(ctx); err != nil {
		return golden.Meta{}, err
	}
	m := golden.Meta{
		Corpus: r.Inputs.Digests.Whole, CorpusPath: r.Job.Corpus.Path, Env: r.Job.Command.Env, Machine: golden.Machine(), MusterVersion: r.Job.Version,
		Created: r.Began, Repeat: r.Job.Judge.Repeat, Flags: job.OutcomeFlags(&r.Job.Options),
	}
	m.Preflight = r.Execution.Crew.Preflight()
	if r.Folder != nil {
		m.Run = r.Folder.ID
	}
	m.Tool = r.Tool.Recorded()
	if c := r.Execution.Commands.Main; c != nil {
		m.Command = append(m.Command, golden.Command{Args: c.Words})
		m.Executable, m.ExecutableDigest = c.Path, r.Tool.Digest(c.Path)
	}
	for _, g := range r.Execution.Commands.ByGlob {
		m.Command = append(m.Command, golden.Command{Glob: g.Glob, Args: g.Command.Words})
	}
	return m, nil
}
