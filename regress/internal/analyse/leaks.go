package analyse

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/readable"
)

// Leaks finds cases that differ by the path of the work folder. All lanes of this machine have
// the same path, an engine has its own. Several goroutines may call its methods.
type Leaks struct {
	watched bool            // else both sides have the same path
	rule    normalize.Rules // leakRule

	mu          sync.Mutex
	cases       int
	byRule      int // of them: the rule makes both sides equal
	first       string
	there, here string // the paths in the first
}

// Watch parses the rule that takes the path out. Unless watched is set, cases are not looked at.
func (l *Leaks) Watch(watched bool) (err error) {
	l.watched = watched
	l.rule, err = normalize.Parse([]string{leakRule})
	return err
}

// look looks at a case that differs.
func (l *Leaks) look(d cause.Case) {
	if !l.watched {
		return
	}
	for _, p := range d.Parts {
		was, is := workFolders(p.OldText), workFolders(p.NowText)
		there, here := notAmong(was, is), notAmong(is, was)
		if there == "" || here == "" {
			continue
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.cases++; l.cases == 1 || d.Name < l.first {
			l.first, l.there, l.here = d.Name, there, here
		}
		if d.Old == d.Now && !slices.ContainsFunc(d.Parts, l.remains) {
			l.byRule++
		}
		return
	}
}

// remains reports whether a part differs under the rule too.
func (l *Leaks) remains(p cause.Part) bool {
	return p.Old == nil || p.Now == nil || p.Old.Form != p.Now.Form || p.Old.Exec != p.Now.Exec ||
		!bytes.Equal(l.rule.Apply(p.Key, p.OldText), l.rule.Apply(p.Key, p.NowText))
}

// Advice says what helps; "" = nothing was found.
func (l *Leaks) Advice() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cases == 0 {
		return ""
	}
	text := fmt.Sprintf("in %s, as %s, the path of the work folder stands in what the tool leaves, once %s and once %s: ",
		readable.Cases(l.cases), name.Print(l.first), name.Print(l.there), name.Print(l.here))
	switch l.byRule {
	case l.cases:
		return text + "take it out of both by --normalize '" + leakRule + "', or " + leakFlags
	case 0:
		return text + leakFlags + "; no rule of --normalize would do, for more differs with it"
	}
	return text + fmt.Sprintf("%s; --normalize '%s' would do for %d of them", leakFlags, leakRule, l.byRule)
}

// leakRule takes the path out of a text.
const leakRule = `s,(/[^\s"]*)?/work\b,WORK,`

// notAmong is the first of some that is not among others, or "".
func notAmong(some, others []string) string {
	i := slices.IndexFunc(some, func(s string) bool { return !slices.Contains(others, s) })
	if i < 0 {
		return ""
	}
	return some[i]
}

// workFoldersMax is how many are looked for in one text: a tool has one.
const workFoldersMax = 4

// workFolders finds what may be the work folder in a text, each once: absolute paths that end
// in its name, wherever they go on from there.
func workFolders(text []byte) (found []string) {
	const last = "/work"
	for at := 0; len(found) < workFoldersMax; {
		i := bytes.Index(text[at:], []byte(last))
		if i < 0 {
			break
		}
		begin, end := at+i, at+i+len(last)
		for begin > at && (isPathByte(text[begin-1]) || text[begin-1] == '/') {
			begin--
		}
		at = end
		if text[begin] != '/' || end < len(text) && isPathByte(text[end]) {
			continue
		}
		if folder := string(text[begin:end]); !slices.Contains(found, folder) {
			found = append(found, folder)
		}
	}
	return found
}

// isPathByte reports whether a byte is usual in the name of a folder.
func isPathByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || bytes.IndexByte([]byte("_.-+@%~"), c) >= 0
}

// leakFlags advises how to have a tool leave the path out.
const leakFlags = "have the tool leave it out (gcc and clang: --shell with -ffile-prefix-map=$PWD=. in the command; others: without debug information)"
