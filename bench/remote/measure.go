package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"muster/lab/corpora"
	"muster/regress"
)

// bench is a measurement under way.
type bench struct {
	options
	out    io.Writer
	dir    string
	engine *engine
	wire   *wire
	bare   *bare
	seed   uint64 // of the latest corpus
}

func (b *bench) prepare(ctx context.Context) (err error) {
	if b.bare, err = dialBare(b.engine.addr, slices.Max(append(b.jobs, regress.RemoteJobsDefault))); err != nil {
		return err
	}
	b.wire, err = listen(ctx, b.engine.addr, newWorker(b.bare.conns[0]))
	return err
}

// row is what was seen of one kind of run.
type row struct {
	corpus, what string
	runs         []ran
}

// measured is everything, as the tables have it.
type measured struct {
	sizes   []row
	known   []timed // all results known: muster and the bare clients, in turns
	lookups []time.Duration
	there   ran // large sources that the engine has, for another tool
}

// timed is one contestant where all results are known.
type timed struct {
	name   string
	jobs   int
	run    func(context.Context) (ran, error)
	rounds []ran
}

func (b *bench) measure(ctx context.Context) error {
	var m measured
	for _, step := range []func(context.Context, *measured) error{b.byEngine, b.small, b.largeOnes} {
		if err := step(ctx, &m); err != nil {
			return err
		}
	}
	b.print(ctx, &m)
	return nil
}

// byEngine has the engine execute cases of corpora that nobody has seen, and asks again.
func (b *bench) byEngine(ctx context.Context, m *measured) error {
	b.wire.worker.rests.Store(true)
	defer b.wire.worker.rests.Store(false)
	executed := row{corpus: "small", what: "executed by the engine"}
	cached := row{corpus: "small", what: "the same, all known"}
	for round := range b.rounds {
		s, err := b.newSet(fmt.Sprintf("executed-%d", round), smallSources(b.executed))
		if err != nil {
			return err
		}
		first, err := s.record(ctx, b.wire.addr)
		if err != nil {
			return err
		}
		again, err := s.known(ctx, b.engine.addr)
		if err != nil {
			return err
		}
		executed.runs, cached.runs = append(executed.runs, first), append(cached.runs, again)
		if err := s.remove(); err != nil {
			return err
		}
	}
	m.sizes = append(m.sizes, executed, cached)
	return nil
}

// smallSources are about 2 KB each.
func smallSources(cases int) corpora.Spec {
	return corpora.Spec{Name: "small", Cases: cases, Bytes: int64(cases) << 11, Sigma: 0.5, Seed: 40}
}

// small has corpora of several sizes executed by the stand-in, and asks again through the
// wire. With the last of them muster and the bare clients take turns.
func (b *bench) small(ctx context.Context, m *measured) error {
	for i, cases := range b.sizes {
		s, err := b.newSet(fmt.Sprintf("small-%d", cases), smallSources(cases))
		if err != nil {
			return err
		}
		b.wire.worker.took()
		if err := s.through(ctx, m, "small", "executed by the stand-in", s.record); err != nil {
			return err
		}
		if err := s.through(ctx, m, "small", "all known", s.known); err != nil {
			return err
		}
		if i == len(b.sizes)-1 {
			if err := s.inTurns(ctx, m); err != nil {
				return err
			}
		}
		if err := s.remove(); err != nil {
			return err
		}
	}
	return nil
}

// through runs muster over the wire, once.
func (s *set) through(ctx context.Context, m *measured, corpus, what string, run func(context.Context, string, ...string) (ran, error)) error {
	r, err := run(ctx, s.wire.addr)
	m.sizes = append(m.sizes, row{corpus, what, []ran{r}})
	return err
}

// inTurns asks for results that the engine knows: as muster does, and bare.
func (s *set) inTurns(ctx context.Context, m *measured) error {
	actions := s.wire.worker.took()
	for _, jobs := range append([]int{regress.RemoteJobsDefault}, s.jobs...) {
		m.known = append(m.known, timed{name: "**muster check**", jobs: jobs, run: func(ctx context.Context) (ran, error) {
			settings, err := s.settings(jobs)
			if err != nil {
				return ran{}, err
			}
			return s.known(ctx, s.engine.addr, "--config", settings)
		}})
	}
	for _, trees := range []bool{false, true} {
		name := "bare: GetActionResult"
		if trees {
			name = "bare: the same, and which files there are"
		}
		m.known = append(m.known, timed{name: name, jobs: regress.RemoteJobsDefault, run: func(ctx context.Context) (r ran, err error) {
			fmt.Fprintf(s.progress, "%s %s\n", time.Now().Format("15:04:05"), name)
			before := s.engine.cpu()
			r.Wall, err = s.bare.results(ctx, actions, regress.RemoteJobsDefault, trees)
			r.engine, r.cases = s.engine.cpu()-before, len(actions)
			return r, err
		}})
	}
	for round := range s.rounds {
		for _, i := range rand.New(rand.NewPCG(uint64(round), 0)).Perm(len(m.known)) {
			r, err := m.known[i].run(ctx)
			if err != nil {
				return err
			}
			m.known[i].rounds = append(m.known[i].rounds, r)
		}
	}
	return nil
}

// largeOnes has large sources executed by the stand-in, again for another tool, for which the
// sources are there and no result is, and once more.
func (b *bench) largeOnes(ctx context.Context, m *measured) error {
	s, err := b.newSet("large", b.large)
	if err != nil {
		return err
	}
	if err := s.through(ctx, m, "large", "executed by the stand-in", s.record); err != nil {
		return err
	}
	if err := s.newTool("2"); err != nil {
		return err
	}
	if err := s.through(ctx, m, "large", "another tool, sources are there", s.check); err != nil {
		return err
	}
	m.there = m.sizes[len(m.sizes)-1].runs[0]
	if err := s.through(ctx, m, "large", "all known", s.known); err != nil {
		return err
	}
	for range b.rounds {
		took, err := b.bare.lookUp(ctx, m.there.lookups)
		if err != nil {
			return err
		}
		m.lookups = append(m.lookups, took)
	}
	return s.remove()
}
