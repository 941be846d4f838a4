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

// Options say what to open and what its files are for.
type Options struct {
	Path    string       // of an archive, a folder or a named pipe; "-" = Stdin
	Stdin   io.Reader    // an archive, read to its end
	Spool   string       // folder for what must be unpacked first; made when needed
	Headers []string     // globs of what every case is given and what is not a case; nil = HDR_*
	Context []string     // globs of what every case is given and still is a case
	Exclude []string     // paths that are not part of a folder corpus: the golden, the state
	Limits  Limits       // zero fields take the defaults
	Note    func(string) // hears what is said once: a name twice, something unpacked, kinds left out; may be nil
	Warn    func(string) // hears that something may be wrong with the corpus; nil = Note
}

// defaultHeaders is how the corpora that muster was made for name them.
const defaultHeaders = "HDR_*"

// roles picks what every case is given.
type roles struct {
	headers, context *glob.Set
}

// opening is what Open's steps share.
type opening struct {
	Options
	roles
	label string
	spool spool
}

// Open indexes the corpus. Hostile, damaged and unknown input is an error of
// class Input that names the corpus, the entry and the mend; what the machine
// refuses is of class Environment. A cancelled context ends it at once; a read
// of Stdin that blocks is then left behind and ends with the next byte.
func Open(ctx context.Context, o Options) (*Corpus, error) {
	p, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if o.Path == "-" {
		if o.Stdin == nil {
			return nil, fault.Inputf("the corpus is standard input, and there is none")
		}
		return p.stream(ctx, o.Stdin)
	}
	info, err := os.Stat(o.Path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, fault.Inputf("there is no corpus %s; name a tar archive, a folder or - for standard input; --cases chooses cases", p.label)
	case err != nil:
		return nil, cannotRead(p.label, "", err)
	case info.IsDir():
		return p.folder(ctx)
	case info.Mode().IsRegular():
		return p.archive(ctx)
	case info.Mode()&os.ModeNamedPipe != 0:
		return p.pipe(ctx)
	}
	return nil, fault.Inputf("%s is neither an archive nor a folder, but a %s; name a tar archive, a folder or - for standard input", p.label, kindOf(info.Mode()))
}

func prepare(o Options) (*opening, error) {
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
	p := &opening{Options: o, label: name.Print(o.Path), spool: spool{dir: o.Spool, limits: o.Limits}}
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

func (p *opening) meter() *meter { return &meter{label: p.label, limits: p.Limits} }

// finish turns a finished tree into the corpus.
func (p *opening) finish(c *Corpus, t *tree) (*Corpus, error) {
	entries, err := t.entries()
	if err != nil {
		return nil, err
	}
	c.label, c.spoolDir = p.label, p.spool.dir
	c.share(entries, p.roles)
	t.say(p.Note)
	return c, nil
}

// cannotRead is the error for what the machine does not let muster read.
func cannotRead(label, entry string, err error) error {
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
