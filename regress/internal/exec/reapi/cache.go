package reapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/outcome"
)

// Cache keeps texts by key, and files by content, on a service that need not execute anything. A text is
// the one output of an action that nobody executes. Several goroutines may use it.
type Cache struct{ client *client.Client }

// DialCache connects. Its errors are those of Dial.
func DialCache(ctx context.Context, at Endpoint) (*Cache, error) {
	at.CacheOnly = true
	c, err := client.Dial(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Cache{c}, nil
}

// IsReadOnly reports whether the service takes nothing from clients.
func (c *Cache) IsReadOnly() bool { return client.IsReadOnly(c.client) }

// Close ends everything in progress and closes the connection.
func (c *Cache) Close() { c.client.Close() }

// textName is the output of the actions.
const textName = "text"

// textAction returns the action whose output is the text of a key.
func textAction(key outcome.Digest) (blob.Digest, error) {
	command := blob.Of(fmt.Appendf(nil, "muster remote cache 1\n%s\n", key))
	b, err := tree.Action{Command: command.Digest, Input: blob.Of(nil).Digest}.Blob()
	return b.Digest, err
}

// Text returns the text of a key, or nil if the service has none of up to most bytes.
func (c *Cache) Text(ctx context.Context, key outcome.Digest, most int64) ([]byte, error) {
	action, err := textAction(key)
	if err != nil {
		return nil, err
	}
	result, known, err := c.client.Result(ctx, client.Execution{Action: action})
	if err != nil || !known || len(result.GetOutputFiles()) != 1 || result.GetOutputFiles()[0].GetPath() != textName {
		return nil, err
	}
	d, err := blob.FromProto(result.GetOutputFiles()[0].GetDigest())
	if err != nil || d.Size > most {
		return nil, nil
	}
	r, err := c.client.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		text = nil
	}
	return text, errors.Join(ignoreMissing(err), r.Close())
}

// SetText replaces the text of a key. maker names this machine.
func (c *Cache) SetText(ctx context.Context, key outcome.Digest, text []byte, maker string) error {
	action, err := textAction(key)
	if err != nil {
		return err
	}
	b := blob.Of(text)
	if err := c.client.Upload(ctx, []blob.Blob{b}); err != nil {
		return err
	}
	return client.StoreResult(ctx, c.client, action, &repb.ActionResult{
		OutputFiles:       []*repb.OutputFile{{Path: textName, Digest: b.Digest.Proto()}},
		ExecutionMetadata: &repb.ExecutedActionMetadata{Worker: strings.ToValidUTF8(maker, "")},
	})
}

// Send leaves a file on the service, and returns its ID.
func (c *Cache) Send(ctx context.Context, file string) (id string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	d := blob.Digest{Hash: outcome.Digest(sum.Sum(nil)), Size: size}
	err = c.client.Upload(ctx, []blob.Blob{{Digest: d, Open: func() (io.ReadCloser, error) { return os.Open(file) }}})
	return d.Hash.String() + "/" + strconv.FormatInt(size, 10), err
}

// Fetch writes the file with an ID to a new place. It returns false if the ID is none of up to most bytes,
// or the service does not have the file.
func (c *Cache) Fetch(ctx context.Context, id, file string, most int64) (bool, error) {
	hash, size, _ := strings.Cut(id, "/")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n > most {
		return false, nil
	}
	d, err := blob.FromProto(&repb.Digest{Hash: hash, SizeBytes: n})
	if err != nil {
		return false, nil
	}
	r, err := c.client.Open(ctx, d)
	if err != nil {
		return false, err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, errors.Join(err, r.Close())
	}
	_, err = io.Copy(f, r)
	isWhole := err == nil
	err = errors.Join(ignoreMissing(err), r.Close(), f.Close())
	if !isWhole {
		err = errors.Join(err, os.Remove(file))
	}
	return isWhole && err == nil, err
}

// ReasonOf says in the user's words why a cache cannot be used. It returns "" for an error of this machine, and
// for one of TLS, whose own text names a mend.
func ReasonOf(err error) string {
	switch status.Code(err) {
	case codes.Unauthenticated:
		return "it wants a token, or another one: MUSTER_REMOTE_TOKEN has it"
	case codes.PermissionDenied:
		return "it does not allow that with this token"
	case codes.ResourceExhausted:
		return "it is full or busy"
	case codes.Unimplemented, codes.NotFound, codes.InvalidArgument:
		return "no cache of the Remote Execution API answers there"
	}
	if client.Unreachable(err) || errors.Is(err, context.DeadlineExceeded) {
		return "it did not answer in time"
	}
	if errors.As(err, new(*fs.PathError)) || status.Code(err) == codes.Unavailable {
		return ""
	}
	return "its answers were broken off or damaged"
}

// IsRefused reports whether a cache does not let this client write.
func IsRefused(err error) bool { return status.Code(err) == codes.PermissionDenied }
