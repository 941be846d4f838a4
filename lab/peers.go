package lab

import (
	"context"
	"errors"
	"slices"
	"strings"

	"muster/lab/native"
)

// A peer is one way to do what is measured: muster's, or a contestant's.
type peer struct {
	impl, language string
	dir            string
	command        []string
}

// muster is the name of this program's own way, which takes part always.
const muster = "muster"

// golang is a language whose programs obey GOMAXPROCS.
const golang = "Go"

// compile builds the contestants for questions that take part. Those that cannot be
// built here are among the results' missing.
func (p *plan) compile(ctx context.Context, questions ...native.Question) (peers []peer, err error) {
	programs := slices.DeleteFunc(native.Programs(), func(n native.Program) bool { return !slices.Contains(questions, n.Question) })
	if err := checkPeers(p.options.Peers, programs); err != nil {
		return nil, err
	}
	for _, n := range programs {
		impls := slices.DeleteFunc(slices.Clone(n.Impls), func(impl string) bool { return !p.takesPart(n, impl) })
		if len(impls) == 0 {
			continue
		}
		if p.options.Progress != nil {
			p.options.Progress(Progress{Next: "compiling " + n.Name, Left: -1})
		}
		if p.options.Cache == "" {
			return nil, errors.New("no folder for what is compiled: set HOME or XDG_CACHE_HOME")
		}
		built, err := n.Build(ctx, p.options.Cache)
		var missing *native.Missing
		if errors.As(err, &missing) {
			p.results.Missing = append(p.results.Missing, Missing{missing.Program, missing.Reason, missing.Install})
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := p.addCondition(Pair{"compiler-" + built.Compiler, built.Version}); err != nil {
			return nil, err
		}
		for _, impl := range impls {
			peers = append(peers, peer{impl, n.Language, built.Dir, append(slices.Clone(built.Args), "-impl", impl)})
		}
	}
	return peers, nil
}

func (p *plan) takesPart(n native.Program, impl string) bool {
	return p.options.Peers == nil || slices.Contains(p.options.Peers, languageWord(n.Language)) || slices.Contains(p.options.Peers, impl)
}

// languageWord is a language as people type it.
func languageWord(language string) string {
	if language == "C++" {
		return "cpp"
	}
	return strings.ToLower(language)
}

// checkPeers refuses names that are neither a language nor a contestant.
func checkPeers(names []string, programs []native.Program) error {
	known := []string{languageWord(golang)} // muster's own way is in it
	for _, n := range programs {
		if word := languageWord(n.Language); !slices.Contains(known, word) {
			known = append(known, word)
		}
	}
	languages := len(known)
	for _, n := range programs {
		known = append(known, n.Impls...)
	}
	for _, name := range names {
		if name != muster && !slices.Contains(known, name) {
			return inputf("no peer %q: there are the languages %s, and of them %s",
				name, strings.Join(known[:languages], ", "), strings.Join(known[languages:], ", "))
		}
	}
	return nil
}
