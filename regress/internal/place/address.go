package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"muster/fileio"
	"muster/files"
	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/state"
)

// sizeMax bounds a fetch. Nobody serves more as one file.
const sizeMax = 16 << 30

// IsAddress reports whether a name is an address rather than a path.
func IsAddress(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	scheme = strings.ToLower(scheme)
	return found && (scheme == "http" || scheme == "https" || scheme == "s3")
}

// remote has the file at one address: server and object implement it.
type remote interface {
	// get returns the content, or files.ErrNotModified if it has the tag.
	get(ctx context.Context, tag string) (*files.Content, error)
	// put replaces the content. The error is fileio.ErrChanged if want does not allow that.
	put(ctx context.Context, body io.ReaderAt, size int64, want files.Condition) (tag string, err error)
	// classify gives an error its class and its mend.
	classify(err error) error
}

// address is the place of a golden at an address. The golden is read from a copy here.
type address struct {
	name   string
	state  *state.State
	remote remote
	copies copies
	copy   *localCopy // nil if nothing is at the address
}

func newAddress(name string, o Options) (*address, error) {
	at, err := newRemote(name, o.Client)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(name))
	return &address{name: name, state: o.State, remote: at, copies: copies{o.State.Cache(), hex.EncodeToString(sum[:8])}}, nil
}

func newRemote(address string, o files.ClientOptions) (remote, error) {
	if strings.HasPrefix(address, "s3://") {
		return newObject(address)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.Inputf("%w", err)
	}
	switch {
	case u.User != nil: // a run's files would keep it
		return nil, fault.Inputf("%s: an address must not have a user: set MUSTER_TOKEN to the server's token", u.Redacted())
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.Path == "" || strings.HasSuffix(u.Path, "/"):
		return nil, fault.Inputf("%s: this is not the address of a file, such as http://HOST/files/NAME, or https", address)
	case files.CheckAddress(u) != nil:
		return nil, fault.Inputf("%w", files.CheckAddress(u))
	case strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, fault.Inputf("MUSTER_TOKEN has a character that no header can have, perhaps a line's end")
	}
	return &server{address, files.NewClient(o)}, nil
}

// fetch makes a copy of what is at the address, if anything is. It fetches only if the last copy is
// out of date.
func (a *address) fetch(ctx context.Context) error {
	tag := ""
	held := a.copies.newest()
	if held != nil {
		tag = held.tag
	}
	content, err := a.remote.get(ctx, tag)
	if held != nil && errors.Is(err, files.ErrNotModified) {
		a.copy = held
		return nil
	}
	if held != nil {
		held.Close()
	}
	if err != nil {
		if err = a.remote.classify(err); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	defer content.Close()
	a.copy, err = a.save(ctx, content)
	return err
}

// save writes a fetched content to a copy.
func (a *address) save(ctx context.Context, content *files.Content) (*localCopy, error) {
	f, err := a.copies.create()
	if err != nil {
		return nil, err
	}
	n := content.Size
	if n <= sizeMax {
		n, err = io.Copy(f, io.LimitReader(content, sizeMax+1))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = fault.Environmentf("fetch %s to %s: after %s: %w", a.name, f.Name(), readable.Count(n, "byte"), err)
	case n > sizeMax:
		err = fault.Inputf("%s is larger than %d GiB, the limit", a.name, sizeMax>>30)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		f.Close()
		return nil, err
	}
	return a.copies.finish(f, content.ETag)
}

// checkTag returns an error if the tag of the copy cannot protect changes of others.
func (a *address) checkTag() error {
	switch {
	case a.copy == nil:
		return nil
	case a.copy.tag == "":
		return fault.Inputf("%s: its server sends no ETag, so you could overwrite another user's changes: use muster serve", a.name)
	case strings.HasPrefix(a.copy.tag, "W/"):
		return fault.Inputf("%s: its server sends a weak ETag, %s, which no If-Match matches (RFC 9110), so you could overwrite another user's changes: use muster serve", a.name, a.copy.tag)
	}
	return nil
}

// replace writes the file at path to the address, provided that nobody changed what is there since the fetch.
// Otherwise the error is errChanged. On success the file becomes the copy; after an error it stays.
func (a *address) replace(ctx context.Context, path string) error {
	if err := a.checkTag(); err != nil {
		return err
	}
	want := files.Condition{IfNoneMatchAll: true}
	if a.copy != nil {
		want = files.Condition{IfMatch: a.copy.tag}
	}
	f, err := os.Open(path)
	if err != nil {
		return fault.Environmentf("%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fault.Environmentf("%w", err)
	}
	tag, err := a.remote.put(ctx, f, info.Size(), want)
	switch {
	case errors.Is(err, fileio.ErrChanged):
		return errChanged
	case err != nil:
		return a.remote.classify(err)
	}
	_, _ = a.copies.adopt(path, tag) // after an error, the golden is fetched when it is read
	_ = os.Remove(path)
	return nil
}

// errChanged is the error of a replacement if the content at the address has changed.
var errChanged = errors.New("it was changed since it was seen")

// Open implements Place. If the local copy is damaged, Open fetches it again.
func (a *address) Open(ctx context.Context) (*golden.Store, error) {
	if a.copy == nil {
		return nil, fault.Inputf("no golden %s: %w", a.name, os.ErrNotExist)
	}
	s, err := golden.Open(a.copy.path)
	if !a.copy.fresh && regress.ClassOf(err) == regress.Input {
		_ = os.Remove(a.copy.path)
		a.Close()
		a.copy = nil
		if err := a.fetch(ctx); err != nil {
			return nil, err
		}
		return a.Open(ctx)
	}
	return s, a.addName(err)
}

// addName adds the address to an error about the copy.
func (a *address) addName(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", a.name, err)
}

// Update changes a copy, which then replaces the golden at the address.
func (a *address) Update(ctx context.Context, do func(*golden.Tx) error) error {
	folder := filepath.Join(a.state.Cache(), "accepting") // the state is locked
	work := filepath.Join(folder, "golden")
	// A journal that a kill left there would be taken for that of the new one.
	err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	defer os.RemoveAll(folder)
	if err == nil {
		err = a.copyTo(work)
	}
	if err != nil {
		return fault.Environmentf("a copy of %s to change: %w", a.name, err)
	}
	if err := golden.Update(work, do); err != nil {
		return err
	}
	err = a.replace(ctx, work)
	if errors.Is(err, errChanged) {
		return fault.Inputf("the golden %s was changed by somebody else just now, and nothing of this was accepted: run muster check again, then accept", a.name)
	}
	return err
}

// copyTo copies what is at the address to a file.
func (a *address) copyTo(path string) error {
	if a.copy == nil {
		return os.ErrNotExist
	}
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(a.copy, 0, sizeMax))
	return errors.Join(err, w.Close())
}

func (a *address) Close() {
	if a.copy != nil {
		a.copy.Close()
	}
}

func (a *address) Path() string {
	return filepath.Join(a.state.Recorded(), a.copies.key+".golden")
}

func (a *address) InState() bool { return true }

func (a *address) prepare() error {
	if err := a.checkTag(); err != nil {
		return err
	}
	if err := os.MkdirAll(a.state.Recorded(), 0o755); err != nil {
		return fault.Environmentf("state folder: %w", err)
	}
	if a.copy == nil {
		return nil
	}
	return a.addName(golden.CheckReplaceable(a.copy.path))
}

func (a *address) Identify(id map[string]string) {
	id["the golden at its address"] = "none"
	if a.copy != nil {
		id["the golden at its address"] = a.copy.tag
	}
}

func (a *address) Reopen(run string) error {
	s, err := golden.Open(a.Path())
	if err != nil {
		return nil // the golden is missing or incomplete, so the run continues as usual
	}
	own := s.Meta().Run == run
	if err := s.Close(); err != nil || !own {
		return err
	}
	return golden.Unfinish(a.Path())
}

func (a *address) Publish(ctx context.Context, again string) error {
	err := a.replace(ctx, a.Path())
	switch {
	case errors.Is(err, errChanged):
		return fault.Inputf("the golden %s was changed by somebody else since this began, and stays: this one is kept as %s, and muster diff shows in what they differ: check against theirs, or do this again", a.name, a.Path())
	case err != nil:
		return fmt.Errorf("%w; this one is kept as %s: %s", err, a.Path(), again)
	}
	return nil
}
