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

// ErrNoFolder says that the whole work folder was asked for, and that the result has none.
var ErrNoFolder = errors.New("the result has no work folder")

// Output is one file, link or removal among what an action left. Inline is its content when
// that came with the result, or is a link's target; else it is to be had by the digest.
type Output struct {
	outcome.Part
	Inline  []byte
	Inlined bool // Inline is the content, perhaps an empty one
}

// Blob is the digest of the content.
func (o *Output) Blob() blob.Digest { return blob.Digest{Hash: o.Digest, Size: o.Size} }

// Outputs finds what an action left: the difference between what its work folder held
// before and what the result names. Before and Read must be set.
type Outputs struct {
	Before *Folder  // the work folder as it was given
	Whole  bool     // all of it was asked for, so what the result does not name is gone
	Paths  []string // else, what was: of that too

	// Read returns a message by its digest. It is asked only for folders that are not
	// as they were given.
	Read func(context.Context, blob.Digest) ([]byte, error)
}

// Of returns what is new, changed or gone, by path: regular files and links alone, as a
// lane finds them. Nothing is read of what files hold. Its error is ErrTooMany, ErrNoFolder
// (Whole alone), Read's, or says what is wrong with the result.
func (o *Outputs) Of(ctx context.Context, r *repb.ActionResult) ([]Output, error) {
	c := comparison{Outputs: o, ctx: ctx, room: foldersMax}
	c.named(r)
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
		c.unnamed(r)
	}
	slices.SortStableFunc(c.found, func(a, b Output) int { return strings.Compare(a.Path, b.Path) })
	// A file may be named alone and be in a folder that is named too.
	left := slices.CompactFunc(c.found, func(a, b Output) bool { return a.Path == b.Path && same(a.Part, b.Part) })
	return left, consistent(left)
}
