package analyse

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
)

// Leaks finds cases that differ by the path of the work folder. All lanes of this machine have the
// same path. An engine has another. Several goroutines may call its methods.
type Leaks struct {
	isWatching bool            // false: both sides have the same path
	rule       normalize.Rules // leakRule

	mu          sync.Mutex
	cases       int
	byRule      int // cases that become equal under the rule
	first       string
	there, here string // the paths in the first case
}

// Watch parses the rule that removes the path. Cases are examined only if watched is set.
func (l *Leaks) Watch(watched bool) (err error) {
	l.isWatching = watched
	l.rule, err = normalize.Parse([]string{leakRule})
	return err
}

func (l *Leaks) examine(d cause.Case) {
	if !l.isWatching {
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
		if d.Old == d.Now && !slices.ContainsFunc(d.Parts, l.stillDiffers) {
			l.byRule++
		}
		return
	}
}

// stillDiffers reports whether a part still differs under the rule.
func (l *Leaks) stillDiffers(p cause.Part) bool {
	return p.Old == nil || p.Now == nil || p.Old.Form != p.Now.Form || p.Old.Exec != p.Now.Exec ||
		!bytes.Equal(l.rule.Apply(p.Key, p.OldText), l.rule.Apply(p.Key, p.NowText))
}

// Advice returns advice about the cases found, or "".
func (l *Leaks) Advice() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cases == 0 {
		return ""
	}
	text := fmt.Sprintf("in %s, such as %s, the tool's output contains the path of the work folder, once %s and once %s: ",
		readable.Cases(l.cases), name.Print(l.first), name.Print(l.there), name.Print(l.here))
	switch l.byRule {
	case l.cases:
		return text + "remove it from both with --normalize '" + leakRule + "', or " + leakFlags
	case 0:
		return text + leakFlags + "; no rule of --normalize would suffice, because more differs"
	}
	return text + fmt.Sprintf("%s; --normalize '%s' would suffice for %d of them", leakFlags, leakRule, l.byRule)
}

// leakRule removes the path from a text.
const leakRule = `s,(/[^\s"]*)?/work\b,WORK,`

// notAmong returns the first of some that is not among others, or "".
func notAmong(some, others []string) string {
	i := slices.IndexFunc(some, func(s string) bool { return !slices.Contains(others, s) })
	if i < 0 {
		return ""
	}
	return some[i]
}

// workFoldersMax bounds the work folders that are searched in one text. A tool has one.
const workFoldersMax = 4

// workFolders finds possible work folders in a text, each once: absolute paths up to the name of
// the work folder.
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

// isPathByte reports whether a byte is common in names of folders.
func isPathByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || bytes.IndexByte([]byte("_.-+@%~"), c) >= 0
}

// leakFlags is advice on how a tool can omit the path.
const leakFlags = "have the tool leave it out (gcc and clang: --shell with -ffile-prefix-map=$PWD=. in the command; others: without debug information)"
