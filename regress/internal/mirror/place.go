// Package mirror keeps local copies of files at addresses. It fetches a file only if it changed,
// and replaces it only if nobody changed it since it was read. A file is at a file server, or in a
// bucket of an object store.
//
// It must not look into the files: callers open the local copy themselves.
package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"muster/fileio"
	"muster/files"
	"muster/internal/readable"
	"muster/regress/internal/fault"
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

// Place is a file at an address. Its methods may be called concurrently.
type Place struct {
	address string
	remote  remote
	cache   cache
}

// New returns the place with an address. Its copies are in a folder that is made when needed.
func New(address, folder string, o files.ClientOptions) (*Place, error) {
	at, err := newRemote(address, o)
	if err != nil {
		return nil, err
	}
	return &Place{address, at, cache{folder, keyOf(address)}}, nil
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

func keyOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:8])
}

// Key returns a file name for things that belong to the place.
func (p *Place) Key() string { return p.cache.key }

// Fetch returns a copy of the file at the address. The caller closes it. It fetches only if the
// last copy is out of date. If no file is there, the error is fs.ErrNotExist.
func (p *Place) Fetch(ctx context.Context) (*Copy, error) {
	held, err := p.cache.newest()
	if err != nil {
		return nil, err
	}
	tag := ""
	if held != nil {
		tag = held.tag
	}
	content, err := p.remote.get(ctx, tag)
	if held != nil && errors.Is(err, files.ErrNotModified) {
		return held, nil
	}
	if held != nil {
		held.Close()
	}
	if err != nil {
		return nil, p.remote.classify(err)
	}
	defer content.Close()
	if content.Size > sizeMax {
		return nil, p.tooLarge()
	}
	return p.save(ctx, content)
}

func (p *Place) tooLarge() error {
	return fault.Inputf("%s is larger than %d GiB, the limit", p.address, sizeMax>>30)
}

// save writes a fetched content to a copy.
func (p *Place) save(ctx context.Context, content *files.Content) (*Copy, error) {
	f, err := p.cache.create()
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, io.LimitReader(content, sizeMax+1))
	switch {
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = fault.Environmentf("fetch %s to %s: after %s: %w", p.address, f.Name(), readable.Count(n, "byte"), err)
	case n > sizeMax:
		err = p.tooLarge()
	}
	if err != nil {
		remove(f.Name())
		f.Close()
		return nil, err
	}
	c, err := p.cache.commit(f.Name(), f, content.ETag)
	if err == nil {
		c.Fresh = true
	}
	return c, err
}

// Replaceable returns the error that Replace would return in any case, because the tag of seen
// cannot protect changes of others. Call it before long work that ends in a Replace.
func (p *Place) Replaceable(seen *Copy) error {
	switch {
	case seen == nil:
		return nil
	case seen.tag == "":
		return fault.Inputf("%s: its server sends no ETag, so you could overwrite another user's changes: use muster serve", p.address)
	case strings.HasPrefix(seen.tag, "W/"):
		return fault.Inputf("%s: its server sends a weak ETag, %s, which no If-Match matches (RFC 9110), so you could overwrite another user's changes: use muster serve", p.address, seen.tag)
	}
	return nil
}

// Replace puts the file at path to the address if the content there is still seen, or nothing if
// seen is nil. Otherwise the error is ErrChanged. On success the file becomes the copy; after an
// error it stays. If the connection breaks before the answer, Replace checks the content at the
// address.
func (p *Place) Replace(ctx context.Context, path string, seen *Copy) error {
	if err := p.Replaceable(seen); err != nil {
		return err
	}
	want := files.Condition{IfNoneMatchAll: true}
	if seen != nil {
		want = files.Condition{IfMatch: seen.tag}
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
	tag, err := p.remote.put(ctx, f, info.Size(), want)
	if err != nil && unanswered(err) {
		if is, same := p.sameContent(ctx, f, info.Size()); same {
			tag, err = is, nil // only its answer was lost
		}
	}
	if err != nil {
		if errors.Is(err, fileio.ErrChanged) {
			return fmt.Errorf("%w: %w", ErrChanged, err)
		}
		return p.remote.classify(err)
	}
	p.cache.adopt(path, tag)
	return nil
}

// unanswered reports whether an error leaves open what the server did. All others are answers of
// the server, or connections that failed.
func unanswered(err error) bool {
	var answer *files.StatusError
	var dial *net.OpError
	return !errors.As(err, &answer) && !errors.Is(err, fileio.ErrChanged) && !errors.Is(err, files.ErrPlainToken) && !errors.Is(err, context.Canceled) &&
		(!errors.As(err, &dial) || dial.Op != "dial")
}

// sameContent reports whether the address has the content of a file, and returns its tag. It returns false
// if it cannot know.
func (p *Place) sameContent(ctx context.Context, f io.ReaderAt, size int64) (tag string, same bool) {
	content, err := p.remote.get(ctx, "")
	if err != nil {
		return "", false
	}
	defer content.Close()
	if content.Size >= 0 && content.Size != size {
		return "", false
	}
	is, err := sumOf(io.LimitReader(content, size+1))
	if err != nil {
		return "", false
	}
	should, err := sumOf(io.NewSectionReader(f, 0, size))
	return content.ETag, err == nil && is == should
}

func sumOf(r io.Reader) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	_, err = io.Copy(h, r)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// ErrChanged is returned by Replace if the content at the address has changed.
var ErrChanged = errors.New("it was changed since it was seen")
