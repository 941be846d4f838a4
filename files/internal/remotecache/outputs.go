package remotecache

import (
	"bufio"
	"context"
	"errors"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
)

// errNoResult is the error of an action whose result is not here as a whole.
var errNoResult = refuse(connect.CodeNotFound, "no result of this action is here with all its outputs")

// outputsMax is how many outputs of a result are checked. A result with more counts as absent.
const outputsMax = 100_000

// treesMax is how many bytes of Tree and Directory messages are read for one result. A result
// with more counts as absent: it may name one message thousands of times.
const treesMax = 64 << 20

// checkOutputs returns errNoResult unless all outputs of a result are here.
func (b blobs) checkOutputs(ctx context.Context, at instance, result *repb.ActionResult) error {
	k := &outputCheck{blobs: b, ctx: ctx, at: at}
	for _, m := range digestsOf(result) {
		d, err := parseDigest(m)
		if err != nil {
			return errNoResult
		}
		if err := k.add(d); err != nil {
			return err
		}
	}
	if err := k.flush(); err != nil {
		return err
	}
	for _, folder := range result.GetOutputDirectories() {
		if err := k.addTree(folder.GetTreeDigest()); err != nil {
			return err
		}
		if err := k.addRoot(folder.GetRootDirectoryDigest()); err != nil {
			return err
		}
	}
	return k.flush()
}

// digestsOf lists the digests in a result.
func digestsOf(result *repb.ActionResult) (list []*repb.Digest) {
	for _, f := range result.GetOutputFiles() {
		list = append(list, f.GetDigest())
	}
	for _, d := range result.GetOutputDirectories() {
		for _, m := range []*repb.Digest{d.GetTreeDigest(), d.GetRootDirectoryDigest()} {
			if m != nil {
				list = append(list, m)
			}
		}
	}
	for _, m := range []*repb.Digest{result.GetStdoutDigest(), result.GetStderrDigest()} {
		if m != nil {
			list = append(list, m)
		}
	}
	return list
}

// outputCheck looks for the outputs of one result.
type outputCheck struct {
	blobs blobs
	ctx   context.Context
	at    instance
	list  []digest // not yet looked for
	count int
	size  int64 // of the messages that were read
}

// checkBatchMax is how many outputs are looked for together.
const checkBatchMax = 256

func (k *outputCheck) add(d digest) error {
	if k.count++; k.count > outputsMax {
		return errNoResult
	}
	if k.list = append(k.list, d); len(k.list) < checkBatchMax {
		return nil
	}
	return k.flush()
}

func (k *outputCheck) flush() error {
	list := k.list
	k.list = k.list[:0]
	return forEach(k.ctx, len(list), func(ctx context.Context, i int) error {
		here, err := k.blobs.has(ctx, k.at, list[i])
		if err == nil && !here {
			err = errNoResult
		}
		return err
	})
}

// read counts the bytes of a message.
func (k *outputCheck) read(size int64) error {
	if k.size += size; k.size > treesMax || size > treesMax {
		return errNoResult
	}
	return nil
}

// addTree adds the files of a Tree message, which may be large.
func (k *outputCheck) addTree(m *repb.Digest) error {
	if m == nil {
		return nil
	}
	d, err := parseDigest(m)
	if err != nil || d == empty {
		return missed(err)
	}
	if err := k.read(d.size); err != nil {
		return err
	}
	f, err := k.blobs.open(k.ctx, k.at, d)
	if err != nil {
		return missed(err)
	}
	defer f.Close()
	tree := &fields{r: bufio.NewReaderSize(f.NewReader(k.ctx), pieceMax), left: f.Size}
	return missed(tree.digests(treeShape, k.add))
}

// addRoot adds all below a Directory message.
func (k *outputCheck) addRoot(m *repb.Digest) error {
	if m == nil {
		return nil
	}
	root, err := parseDigest(m)
	if err != nil {
		return missed(err)
	}
	return missed(k.blobs.walk(k.ctx, k.at, root, func(folder *repb.Directory, size int) error {
		if folder == nil {
			return errNoResult
		}
		if err := k.read(int64(size)); err != nil {
			return err
		}
		for _, f := range folder.GetFiles() {
			d, err := parseDigest(f.GetDigest())
			if err != nil {
				return err
			}
			if err := k.add(d); err != nil {
				return err
			}
		}
		return nil
	}))
}

// missed makes errNoResult of the error of an output that is not here or is not what it should
// be.
func missed(err error) error {
	if r, ok := errors.AsType[*refusal](err); ok && (r.code == connect.CodeNotFound || r.code == connect.CodeInvalidArgument) {
		return errNoResult
	}
	return err
}
