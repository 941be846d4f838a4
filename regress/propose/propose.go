// Package propose looks at a folder and proposes a muster.toml for it: which archive or folder is
// the corpus, which files are its cases, and which are headers.
//
// Input: a folder. Output: a Proposal and its text. The package must not write anything, nor read
// the contents of files.
package propose

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a look.
const (
	entriesMax = 100_000 // in all folders together
	depthMax   = 8
	casesMin   = 3 // files of one extension that make a folder a corpus
	othersMax  = 5 // further corpora that the text names
)

// A Corpus is an archive, or a folder with files of one extension.
type Corpus struct {
	Path      string
	Extension string // with its dot; "" for an archive
	Cases     int    // files with that extension; 0 for an archive
	Mixed     bool   // the folder also has other files, which are no headers
	More      bool   // the look ended before it had counted all files
}

// A Proposal is what a folder seems to be for.
type Proposal struct {
	Corpora []Corpus // the most likely one first
	Headers []string // globs of headers in the first corpus; nil = the default
}

// Look looks at a folder. It skips hidden folders, links, and names that could not stand in the text.
func Look(folder string) (Proposal, error) { return lookAt(folder, entriesMax) }

func lookAt(folder string, room int) (Proposal, error) {
	l := look{room: room, folders: map[string]*content{}}
	err := filepath.WalkDir(folder, func(full string, d fs.DirEntry, err error) error {
		name, e := filepath.Rel(folder, full)
		switch {
		case full == folder:
			return err // a folder that cannot be read has no proposal
		case e != nil:
			return e
		case err != nil:
			return nil // the others may be readable
		}
		return l.add(filepath.ToSlash(name), d)
	})
	if err != nil {
		return Proposal{}, err
	}
	return l.proposal(), nil
}

type look struct {
	room     int // entries that it may still see; negative if there were more
	archives []Corpus
	folders  map[string]*content // top folders by name; "." has only its own files
}

// content counts the files of a folder and of those below.
type content struct {
	files      int
	extensions map[string]int
	named      int // files that are named HDR_*
}

func (l *look) add(name string, d fs.DirEntry) error {
	l.room--
	hidden := strings.HasPrefix(path.Base(name), ".") || name == "-" // as a corpus, "-" is standard input
	switch {
	case l.room < 0:
		return fs.SkipAll
	case d.IsDir() && (hidden || path.Base(name) == "node_modules" || strings.Count(name, "/") >= depthMax):
		return fs.SkipDir
	case !d.Type().IsRegular() || hidden || !isPlain(name):
		return nil
	}
	top, _, below := strings.Cut(name, "/")
	if !below {
		top = "."
		if isArchive(name) {
			l.archives = append(l.archives, Corpus{Path: name})
			return nil
		}
	}
	c := l.folders[top]
	if c == nil {
		c = &content{extensions: map[string]int{}}
		l.folders[top] = c
	}
	c.files++
	if strings.HasPrefix(path.Base(name), "HDR_") {
		c.named++
		return nil
	}
	c.extensions[path.Ext(name)]++
	return nil
}

// isPlain reports whether a name can stand in the text as it is.
func isPlain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

func isArchive(name string) bool {
	for _, end := range []string{".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.xz", ".txz"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// headerExtensions are those of files that are no cases beside others.
var headerExtensions = []string{".h", ".hh", ".hpp", ".hxx", ".inc"}

func (l *look) proposal() (p Proposal) {
	folders := []Corpus{}
	for name, c := range l.folders {
		if found := c.corpus(name); found.Cases >= casesMin {
			found.More = l.room < 0
			folders = append(folders, found)
		}
	}
	slices.SortFunc(folders, func(a, b Corpus) int {
		return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.Path, b.Path))
	})
	// An archive beside the sources of a tool is more likely to be the corpus than the sources.
	p.Corpora = append(l.archives, folders...)
	if len(p.Corpora) > 0 && p.Corpora[0].Extension != "" {
		p.Headers = l.folders[p.Corpora[0].Path].headers()
	}
	return p
}

// corpus returns the folder as a corpus of its most frequent extension.
func (c *content) corpus(name string) Corpus {
	found := Corpus{Path: name}
	others := 0
	for extension, n := range c.extensions {
		if slices.Contains(headerExtensions, extension) {
			continue
		}
		others += n
		if extension != "" && !strings.ContainsAny(extension, `*?[]{}\`) && (n > found.Cases || n == found.Cases && extension < found.Extension) {
			found.Extension, found.Cases = extension, n
		}
	}
	found.Mixed = others > found.Cases || name == "." // muster's own files will lie there
	return found
}

// headers returns the globs of headers, or nil if the default suffices.
func (c *content) headers() (globs []string) {
	for _, extension := range headerExtensions {
		if c.extensions[extension] > 0 {
			globs = append(globs, "*"+extension)
		}
	}
	if len(globs) > 0 && c.named > 0 {
		globs = append(globs, "HDR_*")
	}
	return globs
}
