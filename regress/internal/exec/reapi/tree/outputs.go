package tree

import (
	"context"
	"errors"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/outcome"
)

// ErrNoFolder is the error for a result without the requested work folder.
var ErrNoFolder = errors.New("the result has no work folder")

// Output is a file, link or removal that an action left. Inline is the content if the result
// has it, or a link's target. Otherwise Blob is its digest.
type Output struct {
	outcome.Part
	Inline  []byte
	Inlined bool // Inline is the content, perhaps an empty one.
}

// Blob is the digest of the content.
func (o *Output) Blob() blob.Digest { return blob.Digest{Hash: o.Digest, Size: o.Size} }

// Outputs finds what an action left: the difference between its work folder before and the
// result. Before and Read are required.
type Outputs struct {
	Before *Folder  // the work folder before the action
	Whole  bool     // the whole folder was requested, so what the result lacks is gone
	Paths  []string // otherwise the requested paths; those that the result lacks are gone

	// Read returns a message by its digest. It is called only for changed folders.
	Read func(context.Context, blob.Digest) ([]byte, error)
}

// Of returns what is new, changed or gone, by path: regular files and links alone, as in a
// lane. It reads no file contents. Its error is ErrTooMany, ErrNoFolder (only with Whole), that
// of Read, or describes what is wrong with the result.
func (o *Outputs) Of(ctx context.Context, r *repb.ActionResult) ([]Output, error) {
	c := comparison{Outputs: o, ctx: ctx, room: foldersMax}
	c.compareNamed(r)
	whole := false
	for _, d := range r.GetOutputDirectories() {
		at := strings.TrimSuffix(d.GetPath(), "/")
		if at == "." {
			at = ""
		}
		whole = whole || at == ""
		c.directory(at, d)
	}
	switch {
	case c.err != nil:
		return nil, c.err
	case c.Whole && !whole:
		return nil, ErrNoFolder
	}
	if !c.Whole {
		c.noteUnnamed(r)
	}
	slices.SortStableFunc(c.found, func(a, b Output) int { return strings.Compare(a.Path, b.Path) })
	// A file may be named by itself and also be in a named folder.
	left := slices.CompactFunc(c.found, func(a, b Output) bool { return a.Path == b.Path && same(a.Part, b.Part) })
	return left, consistent(left)
}
