package analyse

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/name"
)

// Leaks finds cases that differ by the path of the work folder. All lanes of this machine have the
// same path. An engine has another. Several goroutines may call its methods.
type Leaks struct {
	IsWatching bool // false: both sides have the same path

	mu          sync.Mutex
	cases       int
	first       string
	there, here string // the paths in the first case
}

func (l *Leaks) examine(d cause.Case) {
	if !l.IsWatching {
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
		return
	}
}

// Advice returns advice about the cases found, or "".
func (l *Leaks) Advice() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cases == 0 {
		return ""
	}
	return fmt.Sprintf("in %s, such as %s, the tool's output contains the path of the work folder, once %s and once %s: remove it from both with --normalize '%s', or %s",
		readable.Cases(l.cases), name.Print(l.first), name.Print(l.there), name.Print(l.here), leakRule, leakFlags)
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
