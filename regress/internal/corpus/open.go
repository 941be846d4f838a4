package corpus

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
)

// Options select the corpus to open and the roles of its files.
type Options struct {
	Path    string       // of an archive, a folder or a named pipe; "-" = Stdin
	Stdin   io.Reader    // an archive, read to its end
	Spool   string       // folder for unpacked archives; made when needed
	Headers []string     // globs of files that every case is given and that are not cases; nil = HDR_*
	Context []string     // globs of cases that every case is also given
	Exclude []string     // paths that are not part of a folder corpus: the golden, the state
	Limits  Limits       // zero fields take the defaults
	Note    func(string) // called once per fact: duplicate names, an unpacking, ignored kinds; may be nil
	Warn    func(string) // called if something may be wrong with the corpus; nil = Note
}

// defaultHeaders matches the headers of the corpora that muster was made for.
const defaultHeaders = "HDR_*"

// roles selects the files that every case is given.
type roles struct {
	headers, context *glob.Set
}

// An opener holds the common data of Open's steps.
type opener struct {
	Options
	roles
	label string
	spool spool
}

// Open indexes the corpus. Hostile, damaged and unknown input is an error of class Input that names
// the corpus, the entry and the mend. Failures of the machine are of class Environment. A cancelled
// context ends Open at once. A blocked read of Stdin then ends with the next byte.
func Open(ctx context.Context, o Options) (*Corpus, error) {
	p, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if o.Path == "-" {
		if o.Stdin == nil {
			return nil, fault.Inputf("the corpus is standard input, and there is none")
		}
		return p.openStream(ctx, o.Stdin)
	}
	info, err := os.Stat(o.Path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, fault.Inputf("there is no corpus %s; name a tar archive, a folder or - for standard input; --cases chooses cases", p.label)
	case err != nil:
		return nil, readError(p.label, "", err)
	case info.IsDir():
		return p.openFolder(ctx)
	case info.Mode().IsRegular():
		return p.openArchive(ctx)
	case info.Mode()&os.ModeNamedPipe != 0: // such as a shell's <(zcat …)
		f, err := os.Open(o.Path)
		if err != nil {
			return nil, readError(p.label, "", err)
		}
		defer f.Close()
		return p.openStream(ctx, f)
	}
	return nil, fault.Inputf("%s is neither an archive nor a folder, but a %s; name a tar archive, a folder or - for standard input", p.label, kindOf(info.Mode()))
}

func prepare(o Options) (*opener, error) {
	if o.Headers == nil {
		o.Headers = []string{defaultHeaders}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Warn == nil {
		o.Warn = o.Note
	}
	o.Limits = o.Limits.withDefaults()
	p := &opener{Options: o, label: name.Print(o.Path), spool: spool{dir: o.Spool}}
	if o.Path == "-" {
		p.label = "standard input"
	}
	var err error
	if p.headers, err = glob.Compile(o.Headers...); err != nil {
		return nil, err
	}
	p.context, err = glob.Compile(o.Context...)
	return p, err
}

func (p *opener) meter() *meter { return &meter{label: p.label, limits: p.Limits} }

// finish makes the corpus of a complete tree.
func (p *opener) finish(c *Corpus, t *tree) (*Corpus, error) {
	entries, err := t.entries()
	if err != nil {
		return nil, err
	}
	c.label, c.spoolDir = p.label, p.spool.dir
	c.assignRoles(entries, p.roles)
	t.report(p.Note)
	return c, nil
}

// readError returns the error for a file that the machine cannot read.
func readError(label, entry string, err error) error {
	if entry != "" {
		label += ": " + name.Print(entry)
	}
	if errors.Is(err, os.ErrPermission) {
		return fault.Environmentf("%s cannot be read: %w; give yourself the right to read it, or leave it out", label, fault.Reason(err))
	}
	return fault.Environmentf("%s cannot be read: %w", label, fault.Reason(err))
}

func kindOf(mode os.FileMode) string {
	switch {
	case mode&os.ModeNamedPipe != 0:
		return "named pipe"
	case mode&os.ModeSocket != 0:
		return "socket"
	case mode&os.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// spoolKept is the number of unpacked archives that remain for the next run: the current one and
// one more, for people who switch between two.
const spoolKept = 2

// The names in the spool. corpus-KEY.tar is whole if corpus-KEY.stamp matches its filestamp.
// corpus-*.tmp is being written.
const (
	spoolPrefix = "corpus-"
	spoolWhole  = ".tar"
	spoolStamp  = ".stamp"
	spoolTemp   = ".tmp"
)

// spool is the folder for unpacked archives. Several processes may use the same one.
type spool struct{ dir string }

// find returns the whole file for a key, or nil. It does not read the file. Nothing may have
// changed it since its stamp was written: no process, and no power cut that kept the name and lost
// the content.
func (s spool) find(key string) *os.File {
	path := s.wholePath(key)
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if hasStamp(f) {
		now := time.Now()
		_ = os.Chtimes(stampFile(path), now, now) // so that prune keeps it; if this fails, the next run unpacks again
		return f
	}
	f.Close()
	removeWhole(path)
	return nil
}

func hasStamp(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stamp, err := os.ReadFile(stampFile(f.Name()))
	return err == nil && string(stamp) == filestamp.Of(info)
}

// archivesFile has the digest of each archive that has an unpacked copy.
const archivesFile = "archives.json"

// keyOf names the unpacked copy of an archive by the archive's content. It reads the archive only if digests
// lack it, or if its stamp cannot be trusted.
func (p *opener) keyOf(ctx context.Context, digests *filedigest.Cache, src *source, f *os.File) (string, error) {
	d, err := digests.OfOpen(ctx, src.path, f)
	if err != nil {
		return "", cmp.Or(stopError(ctx, p.label), readError(p.label, "", err))
	}
	return hex.EncodeToString(d.Hash[:16]), nil
}

func (s spool) wholePath(key string) string {
	return filepath.Join(s.dir, spoolPrefix+key+spoolWhole)
}

// stampFile returns the path of the stamp of a whole file. It is a separate file, because the whole
// file's time records its last use.
func stampFile(whole string) string {
	return strings.TrimSuffix(whole, spoolWhole) + spoolStamp
}

func removeWhole(path string) {
	_ = os.Remove(path)
	_ = os.Remove(stampFile(path))
}

// paths returns the files with the given prefix and suffix.
func (s spool) paths(prefix, suffix string) (all []string) {
	entries, _ := os.ReadDir(s.dir) // without the folder the list is empty
	for _, e := range entries {
		if n := e.Name(); e.Type().IsRegular() && strings.HasPrefix(n, prefix) && strings.HasSuffix(n, suffix) {
			all = append(all, filepath.Join(s.dir, n))
		}
	}
	return all
}

// scratch is a spool file in writing.
type scratch struct {
	spool spool
	path  string // "" if it has no name
	w     *os.File
	r     *os.File // reads the same file
}

// create makes a new file, and the folder if it is missing. A nameless file cannot be kept, and
// never outlives the process.
func (s spool) create(label string, nameless bool) (*scratch, error) {
	if s.dir == "" {
		return nil, fault.Environmentf("%s must be unpacked, and there is no folder for it; name one by --state", label)
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, spoolError(label, s.dir, err)
	}
	w, err := os.CreateTemp(s.dir, spoolPrefix+"*"+spoolTemp)
	if err != nil {
		return nil, spoolError(label, s.dir, err)
	}
	x := &scratch{spool: s, path: w.Name(), w: w}
	if x.r, err = os.Open(x.path); err != nil {
		x.discard()
		return nil, spoolError(label, s.dir, err)
	}
	if nameless {
		x.unname()
	}
	return x, nil
}

func (x *scratch) unname() {
	if x.path != "" {
		_ = os.Remove(x.path)
		x.path = ""
	}
}

// discard removes the file.
func (x *scratch) discard() {
	x.unname()
	x.w.Close()
	if x.r != nil {
		x.r.Close()
	}
}

// keep makes the written file the whole file for a key, for this run and the next, and returns it.
// With an empty key it serves this run only.
func (x *scratch) keep(label, key string) (*os.File, error) {
	whole := ""
	if key != "" {
		whole = x.spool.wholePath(key)
		if err := os.Rename(x.path, whole); err != nil {
			x.discard()
			return nil, spoolError(label, x.spool.dir, err)
		}
		x.path = ""
		x.spool.prune(whole)
	}
	x.unname()
	if err := x.w.Close(); err != nil { // some file systems report a full disk only now
		x.r.Close()
		return nil, spoolError(label, x.spool.dir, err)
	}
	if whole != "" {
		x.stamp(whole)
	}
	return x.r, nil
}

// stamp writes the stamp of the whole file, which no longer changes. If it fails, the next run
// unpacks again.
func (x *scratch) stamp(whole string) {
	if info, err := x.r.Stat(); err == nil {
		_ = os.WriteFile(stampFile(whole), []byte(filestamp.Of(info)), 0o600)
	}
}

// prune removes files of dead writers, and all whole files except those used last. A later run
// removes what it could not.
func (s spool) prune(current string) {
	for _, path := range s.paths(spoolPrefix, spoolTemp) {
		if time.Since(modTime(path)) > writerDead {
			_ = os.Remove(path)
		}
	}
	others := s.paths(spoolPrefix, spoolWhole)
	others = slices.DeleteFunc(others, func(path string) bool { return path == current })
	slices.SortFunc(others, func(a, b string) int { return modTime(stampFile(b)).Compare(modTime(stampFile(a))) })
	for _, path := range others[min(len(others), spoolKept-1):] {
		removeWhole(path)
	}
	whole := s.paths(spoolPrefix, spoolWhole)
	for _, path := range s.paths(spoolPrefix, spoolStamp) {
		if !slices.ContainsFunc(whole, func(w string) bool { return stampFile(w) == path }) {
			_ = os.Remove(path)
		}
	}
}

// modTime returns when a file was last modified, or a time long ago if it does not exist.
func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// writerDead is the age of a file in writing from which nobody writes it.
const writerDead = time.Hour
