// Package mirror has files that are at addresses: what is there is fetched when it has
// changed, and read from a copy here; what is to be there takes the place of what was
// seen, and of nothing else.
//
// It must not know what is in the files, nor open them for anybody.
package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"muster/files"
	"muster/regress/internal/fault"
)

// sizeMax bounds what is fetched: more than that nobody serves as one file.
const sizeMax = 16 << 30

// IsAddress reports whether a name is meant as an address, and not as that of a file.
func IsAddress(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	scheme = strings.ToLower(scheme)
	return found && (scheme == "http" || scheme == "https")
}

// Place is a file at an address. Its methods may be called at the same time.
type Place struct {
	address string
	client  *files.Client
	cache   cache
}

// New returns the place with that address, whose copies are in a folder that is made when
// it is needed.
func New(address, folder string, o files.ClientOptions) (*Place, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.Inputf("%s: %w", address, err)
	}
	switch {
	case u.User != nil: // it would stay in what is kept of a run
		return nil, fault.Inputf("%s: no user stands in an address here: set MUSTER_TOKEN to the server's token", u.Redacted())
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.Path == "" || strings.HasSuffix(u.Path, "/"):
		return nil, fault.Inputf("%s: that is no address of a file: one is http://HOST/files/NAME, or https", address)
	case strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, fault.Inputf("MUSTER_TOKEN has a character that no header can have, perhaps a line's end")
	}
	return &Place{address, files.NewClient(o), cache{folder, keyOf(address)}}, nil
}

func keyOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:8])
}

// Key is a name for what belongs to the place, fit for a file.
func (p *Place) Key() string { return p.cache.key }

// Fetch returns a copy of what is at the address, for the caller to close. It is made only
// if the one of before is not that any more. The error of nothing there is fs.ErrNotExist.
func (p *Place) Fetch(ctx context.Context) (*Copy, error) {
	held, err := p.cache.newest()
	if err != nil {
		return nil, err
	}
	tag := ""
	if held != nil {
		tag = held.tag
	}
	content, err := p.client.Get(ctx, p.address, tag)
	if held != nil && errors.Is(err, files.ErrNotModified) {
		return held, nil
	}
	if held != nil {
		held.Close()
	}
	if err != nil {
		return nil, p.failed(err)
	}
	defer content.Close()
	if content.Size > sizeMax {
		return nil, p.tooLarge()
	}
	return p.save(ctx, content)
}

func (p *Place) tooLarge() error {
	return fault.Inputf("%s is larger than %d GiB, and is not fetched", p.address, sizeMax>>30)
}

// save makes a copy of what comes.
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
		err = fault.Environmentf("fetch %s to %s: after %d bytes: %w", p.address, f.Name(), n, err)
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

// Replaceable is the error that Replace would have whatever is there: what was seen cannot
// be told from what another has written. Whoever works for long before a Replace asks first.
func (p *Place) Replaceable(seen *Copy) error {
	switch {
	case seen == nil:
		return nil
	case seen.tag == "":
		return fault.Inputf("%s: its server tells no ETag, and without it one could overwrite what another has written: use muster serve", p.address)
	case strings.HasPrefix(seen.tag, "W/"):
		return fault.Inputf("%s: its server tells a weak ETag, %s, which no If-Match matches (RFC 9110), and without it one could overwrite what another has written: use muster serve", p.address, seen.tag)
	}
	return nil
}

// Replace puts the file at path to the address if what is there is still seen, nil for
// nothing; else the error is ErrChanged. Then the file becomes the copy of what is there,
// and after an error it stays. Where a connection broke before the answer, what is there is
// looked at.
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
	tag, err := p.client.Put(ctx, p.address, f, info.Size(), want)
	if err != nil && unanswered(err) {
		if is, same := p.has(ctx, f, info.Size()); same {
			tag, err = is, nil // its answer was lost
		}
	}
	if err != nil {
		return p.failed(err)
	}
	p.cache.adopt(path, tag)
	return nil
}

// unanswered reports whether an error leaves open what the server did: all that there is
// else are its answers, and connections that were never made.
func unanswered(err error) bool {
	var answer *files.StatusError
	var dial *net.OpError
	return !errors.As(err, &answer) && !errors.Is(err, files.ErrPlainToken) && !errors.Is(err, context.Canceled) &&
		(!errors.As(err, &dial) || dial.Op != "dial")
}

// has reports whether what is at the address is what a file has, and its tag. What cannot
// be told counts as no.
func (p *Place) has(ctx context.Context, f io.ReaderAt, size int64) (tag string, same bool) {
	content, err := p.client.Get(ctx, p.address, "")
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

// ErrChanged is the error of a Replace where something else is there by now.
var ErrChanged = errors.New("it was changed since it was seen")

// failed says whose move an error of the client is, and which.
func (p *Place) failed(err error) error {
	var answer *files.StatusError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, files.ErrPlainToken):
		return fault.Inputf("%w: use https, or set MUSTER_TOKEN_PLAIN=1 where the network is trusted", err)
	case !errors.As(err, &answer):
		return fault.Environmentf("%w: is the server running there, and reachable?", err)
	}
	switch status := answer.Status; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.Inputf("%w: set MUSTER_TOKEN to the server's token", err)
	case status == http.StatusNotFound && !strings.Contains(p.address, filesAt):
		// Not %w: a golden that is to be made is not there either, and this is a mistake.
		return fault.Inputf("%v: muster serve has its files below %s, as in http://HOST%sNAME", err, filesAt, filesAt)
	case status == http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	case status == http.StatusInsufficientStorage:
		return fault.Environmentf("%w: there is no room on the server", err)
	case status >= 500, status == http.StatusRequestEntityTooLarge, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fault.Environmentf("%w", err)
	}
	return fault.Inputf("%w", err)
}

// filesAt is what the addresses of a server's files have in them.
const filesAt = "/files/"
