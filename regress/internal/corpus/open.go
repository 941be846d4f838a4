package corpus

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"muster/regress/internal/fault"
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
	case info.Mode()&os.ModeNamedPipe != 0:
		return p.openPipe(ctx)
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
	p := &opener{Options: o, label: name.Print(o.Path), spool: spool{dir: o.Spool, limits: o.Limits}}
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
