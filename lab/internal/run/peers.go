package run

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

// A Peer is one implementation of a task: muster's own or a contestant's.
type Peer struct {
	Impl, Language string
	Own            bool // this program plays it

	dir     string
	command []string
}

// Muster is the name of this program's own implementation, which always takes part.
const Muster = probe.Own

// Golang is the language whose programs obey GOMAXPROCS.
const Golang = "Go"

// OwnPeer returns this program's own implementation.
func OwnPeer() Peer { return Peer{Impl: Muster, Language: Golang, Own: true} }

// ownContestants returns the contestants that this program plays, so that they need no compiler.
func ownContestants(q native.Question) []string {
	if q == native.Dispatch {
		return probe.DispatchContestants()
	}
	return nil
}

// Trial returns a trial of a contestant with the given flags.
func (p Peer) Trial(name string, estimate time.Duration, args ...string) Trial {
	return Trial{Name: name, Estimate: estimate, Foreign: true, dir: p.dir, command: slices.Concat(p.command, args)}
}

// Peers builds the contestants for the questions, as selected in the options.
func (p *Plan) Peers(ctx context.Context, questions ...native.Question) (peers []Peer, err error) {
	if err := checkPeers(p.options.Peers, questions); err != nil {
		return nil, err
	}
	for _, question := range questions {
		some, err := p.Compile(ctx, question, p.options.Peers)
		if err != nil {
			return nil, err
		}
		peers = append(peers, some...)
	}
	return peers, nil
}

// Compile builds the wanted contestants for a question. wanted lists languages or contestants;
// nil means all. Contestants that cannot be built go to the results' Missing.
func (p *Plan) Compile(ctx context.Context, question native.Question, wanted []string) (peers []Peer, err error) {
	for _, impl := range ownContestants(question) {
		if takesPart(wanted, Golang, impl) {
			peers = append(peers, Peer{Impl: impl, Language: Golang, Own: true})
		}
	}
	programs := slices.DeleteFunc(native.Programs(), func(n native.Program) bool { return n.Question != question })
	for _, n := range programs {
		impls := slices.DeleteFunc(slices.Clone(n.Impls), func(impl string) bool { return !takesPart(wanted, n.Language, impl) })
		if len(impls) == 0 {
			continue
		}
		if p.options.Progress != nil {
			p.options.Progress(Progress{Next: "compiling " + n.Name, Left: -1})
		}
		built, missing, err := p.build(ctx, n)
		if err != nil {
			return nil, err
		}
		if built == nil {
			p.Results.Missing = append(p.Results.Missing, missing)
			continue
		}
		if err := p.AddCondition(results.Pair{Key: "compiler-" + built.Compiler, Value: built.Version}); err != nil {
			return nil, err
		}
		for _, impl := range impls {
			peers = append(peers, Peer{Impl: impl, Language: n.Language, dir: built.Dir, command: append(slices.Clone(built.Args), "-impl", impl)})
		}
	}
	return peers, nil
}

// build builds a program. It returns nil and the reason if this machine cannot build it.
func (p *Plan) build(ctx context.Context, n native.Program) (*native.Executable, results.Missing, error) {
	if p.options.Cache == "" {
		return nil, results.Missing{Peer: n.Name, Reason: "no cache folder for compiled contestants: set HOME or XDG_CACHE_HOME"}, nil
	}
	built, err := n.Build(ctx, p.options.Cache)
	var missing *native.Missing
	switch {
	case err == nil:
		return built, results.Missing{}, nil
	case ctx.Err() != nil:
		return nil, results.Missing{}, err
	case errors.As(err, &missing):
		return nil, results.Missing{Peer: missing.Program, Reason: missing.Reason, Install: missing.Install}, nil
	}
	return nil, results.Missing{Peer: n.Name, Reason: err.Error()}, nil
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

// checkPeers rejects names that are neither a language nor a contestant for one of the
// questions.
func checkPeers(names []string, questions []native.Question) error {
	programs := slices.DeleteFunc(native.Programs(), func(n native.Program) bool { return !slices.Contains(questions, n.Question) })
	known := []string{languageWord(Golang)} // muster's own language
	for _, n := range programs {
		if word := languageWord(n.Language); !slices.Contains(known, word) {
			known = append(known, word)
		}
	}
	languages := len(known)
	for _, q := range questions {
		known = append(known, ownContestants(q)...)
	}
	for _, n := range programs {
		known = append(known, n.Impls...)
	}
	for _, name := range names {
		if name != Muster && !slices.Contains(known, name) {
			return inputf("unknown peer %q: name a language (%s) or a contestant (%s)",
				name, strings.Join(known[:languages], ", "), strings.Join(known[languages:], ", "))
		}
	}
	return nil
}
