package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// A contestant is one implementation of a task: muster's own or another.
type contestant struct {
	Impl, Language string
	Own            bool // this program plays it

	dir     string
	command []string
}

// muster is the name of this program's own implementation, which always takes part.
const muster = probe.Own

// golang is the language whose programs obey GOMAXPROCS.
const golang = "Go"

// ownContestants returns the contestants that this program plays, so that they need no compiler.
func ownContestants(q native.Question) []string {
	if q == native.Dispatch {
		return probe.DispatchContestants()
	}
	return nil
}

// trial returns a trial of a contestant with the given flags.
func (c contestant) trial(name string, estimate time.Duration, args ...string) trial {
	return trial{Name: name, Estimate: estimate, Foreign: true, dir: c.dir, command: slices.Concat(c.command, args)}
}

// selected builds the contestants for a question, as selected in the options.
func (p *planner) selected(ctx context.Context, question native.Question) (peers []contestant, err error) {
	if err := checkPeers(p.options.Peers, question); err != nil {
		return nil, err
	}
	return p.compile(ctx, question, p.options.Peers)
}

// compile builds the wanted contestants for a question. wanted lists languages or contestants;
// nil means all. Contestants that cannot be built go to the results' Missing.
func (p *planner) compile(ctx context.Context, question native.Question, wanted []string) (peers []contestant, err error) {
	for _, impl := range ownContestants(question) {
		if takesPart(wanted, golang, impl) {
			peers = append(peers, contestant{Impl: impl, Language: golang, Own: true})
		}
	}
	for _, n := range native.ProgramsFor(question) {
		impls := slices.DeleteFunc(n.Impls, func(impl string) bool { return !takesPart(wanted, n.Language, impl) })
		if len(impls) == 0 {
			continue
		}
		if p.options.Progress != nil {
			p.options.Progress(Progress{Next: "compiling " + n.Name, Left: -1})
		}
		built, err := n.Build(ctx, p.options.Cache)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			missing := &results.Missing{Peer: n.Name, Reason: err.Error()}
			errors.As(err, &missing)
			p.Results.Missing = append(p.Results.Missing, *missing)
			continue
		}
		if err := p.addCondition(results.Pair{Key: "compiler-" + built.Compiler, Value: built.Version}); err != nil {
			return nil, err
		}
		for _, impl := range impls {
			peers = append(peers, contestant{Impl: impl, Language: n.Language, dir: built.Dir, command: append(slices.Clone(built.Args), "-impl", impl)})
		}
	}
	return peers, nil
}

func takesPart(wanted []string, language, impl string) bool {
	return wanted == nil || slices.Contains(wanted, languageWord(language)) || slices.Contains(wanted, impl)
}

// languageWord returns the name of a language as people type it.
func languageWord(language string) string {
	if language == "C++" {
		return "cpp"
	}
	return strings.ToLower(language)
}

// checkPeers rejects names that are neither a language nor a contestant for a question.
func checkPeers(names []string, question native.Question) error {
	languages, impls := []string{languageWord(golang)}, ownContestants(question) // muster is in Go
	for _, n := range native.ProgramsFor(question) {
		languages, impls = append(languages, languageWord(n.Language)), append(impls, n.Impls...)
	}
	languages = slices.Compact(languages)
	for _, name := range names {
		if name != muster && !slices.Contains(languages, name) && !slices.Contains(impls, name) {
			return inputf("unknown peer %q: name a language (%s) or a contestant (%s)", name, strings.Join(languages, ", "), strings.Join(impls, ", "))
		}
	}
	return nil
}
