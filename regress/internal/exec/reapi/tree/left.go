package tree

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/outcome"
)

// FilesMax is how many files one action may leave, as in a lane: more are taken as
// reaching the output limit.
const FilesMax = 100_000

// ErrTooMany says that an action left more than that, or a path longer than Linux takes.
var ErrTooMany = errors.New("too many files")

// ErrNoFolder says that the whole work folder was asked for, and that the result has none.
var ErrNoFolder = errors.New("the result has no work folder")

// Left is one file, link or removal among what an action left. Inline is its content when
// that came with the result, or is a link's target; else it is to be had by the digest.
type Left struct {
	outcome.Part
	Inline []byte
	Here   bool // Inline is the content, perhaps an empty one
}

// Blob is the digest of the content.
func (l *Left) Blob() blob.Digest { return blob.Digest{Hash: l.Digest, Size: l.Size} }

// Compare finds what an action left: the difference between what its work folder held
// before and what the result names. Given and Read must be set.
type Compare struct {
	Given *Folder  // the work folder as it was given
	Whole bool     // all of it was asked for, so what the result does not name is gone
	Asked []string // else, what was: of that too

	// Read returns a message by its digest. It is asked only for folders that are not
	// as they were given.
	Read func(context.Context, blob.Digest) ([]byte, error)
}

// Files returns what is new, changed or gone, by path: regular files and links alone, as a
// lane finds them. Nothing is read of what files hold. Its error is ErrTooMany, ErrNoFolder
// (Whole alone), Read's, or says what is wrong with the result.
func (c *Compare) Files(ctx context.Context, r *repb.ActionResult) ([]Left, error) {
	l := looking{Compare: c, ctx: ctx, room: foldersMax}
	l.named(r)
	whole := false
	for _, d := range r.GetOutputDirectories() {
		at := strings.TrimSuffix(d.GetPath(), "/")
		if at == "." {
			at = ""
		}
		whole = whole || at == ""
		l.directory(at, d)
	}
	switch {
	case l.err != nil:
		return nil, l.err
	case c.Whole && !whole:
		return nil, ErrNoFolder
	}
	if !c.Whole {
		l.unnamed(r)
	}
	slices.SortStableFunc(l.found, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	// A file may be named alone and be in a folder that is named too.
	left := slices.CompactFunc(l.found, func(a, b Left) bool { return a.Path == b.Path && same(a.Part, b.Part) })
	return left, possible(left)
}

func same(a, b outcome.Part) bool {
	return a.Form == b.Form && a.Exec == b.Exec && a.Size == b.Size && a.Digest == b.Digest
}

// possible refuses what no folder can hold: two things of one name, or one below a file.
func possible(left []Left) error {
	files := make(map[string]bool, len(left))
	for i := range left {
		l := &left[i]
		if i > 0 && left[i-1].Path == l.Path {
			return fmt.Errorf("%q is there twice, and not the same", l.Path)
		}
		files[l.Path] = l.Form != outcome.Gone
	}
	for i := range left {
		for at := path.Dir(left[i].Path); left[i].Form != outcome.Gone && at != "."; at = path.Dir(at) {
			if files[at] {
				return fmt.Errorf("%q is there, and below it %q", at, left[i].Path)
			}
		}
	}
	return nil
}

// looking is a comparison under way. After the first error nothing more is found.
type looking struct {
	*Compare
	ctx     context.Context
	found   []Left
	entries int
	room    int64 // bytes of folders that may still be read
	err     error
}

// foldersMax is how much of folders is read for one action, in bytes: what so many files
// need, with names as long as they can be, and as much of what was given. Each message
// counts as a few bytes more.
const (
	foldersMax    = 96 << 20
	aroundMessage = 64
)

// named goes through what the result names one by one.
func (l *looking) named(r *repb.ActionResult) {
	for _, f := range r.GetOutputFiles() {
		had := l.had(f.GetPath())
		l.file(f.GetPath(), had, f.GetDigest(), f.GetIsExecutable(), f.GetContents())
	}
	for _, s := range links(r) {
		l.link(s.GetPath(), l.had(s.GetPath()), s.GetTarget())
	}
}

// unnamed notes what was asked for and given, and is nothing of the kind any more.
func (l *looking) unnamed(r *repb.ActionResult) {
	var files, folders []string
	for _, f := range r.GetOutputFiles() {
		files = append(files, f.GetPath())
	}
	for _, s := range links(r) {
		files = append(files, s.GetPath())
	}
	for _, d := range r.GetOutputDirectories() {
		folders = append(folders, strings.TrimSuffix(d.GetPath(), "/"))
	}
	for _, at := range l.Asked {
		had := l.had(at)
		switch {
		case had == nil || slices.ContainsFunc(folders, func(above string) bool { return strings.HasPrefix(at, above+"/") }):
		case had.kind == aFolder && !slices.Contains(folders, at):
			l.gone(at, had.sub, nil, nil)
		case had.kind != aFolder && !slices.Contains(files, at):
			l.add(Left{Part: part(at, outcome.Gone), Here: true})
		}
	}
}

// had is what the work folder held at a path, or nil.
func (l *looking) had(at string) *entry {
	dir, name := path.Split(at)
	return l.Given.Sub(strings.TrimSuffix(dir, "/")).find(name)
}

// directory goes through a folder that the result names.
func (l *looking) directory(at string, d *repb.OutputDirectory) {
	if l.err != nil {
		return
	}
	if at != "" {
		if err := checkPath(at); err != nil {
			l.fail(err)
			return
		}
	}
	read := l.stored
	root := d.GetRootDirectoryDigest()
	if root == nil || d.GetTreeDigest() != nil {
		folders, top, err := l.tree(d.GetTreeDigest())
		if err != nil {
			l.fail(err)
			return
		}
		root = top.Proto()
		read = func(d blob.Digest) ([]byte, error) {
			m, ok := folders[d]
			if !ok {
				return nil, fmt.Errorf("the tree does not have its folder %s", d.Hash)
			}
			return m, nil
		}
	}
	l.folder(at, root, l.Given.Sub(at), read)
}

func (l *looking) stored(d blob.Digest) ([]byte, error) { return l.Read(l.ctx, d) }

// folder goes through a folder, unless it is as it was given.
func (l *looking) folder(at string, d *repb.Digest, given *Folder, read func(blob.Digest) ([]byte, error)) {
	if l.err != nil {
		return
	}
	digest, err := blob.FromProto(d)
	if err != nil || given != nil && digest == given.digest {
		l.fail(err)
		return
	}
	if !l.reads(digest.Size) {
		return
	}
	if given != nil { // what was there is not what the action left
		l.entries -= len(given.entries)
	}
	message, err := read(digest)
	if err != nil {
		l.fail(err)
		return
	}
	rest, alike := given.besides(message)
	l.pass(alike)
	now, err := nodes(rest)
	if err != nil {
		l.fail(err)
		return
	}
	kept := make(map[string]kind, len(now[aFile])+len(now[aFolder])+len(now[aLink]))
	enter := func(name string, k kind) string {
		if err := checkPart(name); err != nil {
			l.fail(err)
		} else if _, twice := kept[name]; twice || given.hasAlike(name, alike) {
			l.fail(fmt.Errorf("a folder has the name %q twice", name))
		}
		kept[name] = k
		return path.Join(at, name)
	}
	for _, f := range now[aFile] {
		l.file(enter(f.name, aFile), given.find(f.name), f.digest, f.exec, nil)
	}
	for _, s := range now[aLink] {
		l.link(enter(s.name, aLink), given.find(s.name), s.target)
	}
	for _, sub := range now[aFolder] {
		if below := enter(sub.name, aFolder); l.enters(below) {
			l.folder(below, sub.digest, given.Sub(sub.name), read)
		}
	}
	l.gone(at, given, alike, kept)
}

// pass counts entries that are as they were given.
func (l *looking) pass(alike []bool) {
	for _, is := range alike {
		if is {
			l.entries++
		}
	}
}

// gone notes what a folder held and has no more: what is kept there is something else if
// a file became a folder, or a folder something else.
func (l *looking) gone(at string, given *Folder, alike []bool, kept map[string]kind) {
	if given == nil || l.err != nil {
		return
	}
	for i := range given.entries {
		if alike != nil && alike[i] {
			continue
		}
		e := &given.entries[i]
		k, is := kept[e.name]
		if is && (k == aFolder) == (e.kind == aFolder) {
			continue
		}
		below := path.Join(at, e.name)
		if e.kind == aFolder {
			l.gone(below, e.sub, nil, nil)
			continue
		}
		l.add(Left{Part: part(below, outcome.Gone), Here: true})
	}
}

func (l *looking) file(at string, had *entry, d *repb.Digest, exec bool, inline []byte) {
	if !l.enters(at) {
		return
	}
	digest, err := blob.FromProto(d)
	if err != nil {
		l.fail(fmt.Errorf("%q: %w", at, err))
		return
	}
	if had != nil && had.kind == aFile && had.file == (File{digest, exec}) {
		return
	}
	left := Left{Part: part(at, outcome.Regular)}
	left.Exec, left.Size, left.Digest = exec, digest.Size, digest.Hash
	if digest.Size == 0 || len(inline) > 0 && blob.Of(inline).Digest == digest {
		left.Inline, left.Here = inline, true
	}
	l.add(left)
}

func (l *looking) link(at string, had *entry, target string) {
	if !l.enters(at) || had != nil && had.kind == aLink && had.target == target {
		return
	}
	if target == "" || len(target) >= pathBytesMax || strings.IndexByte(target, 0) >= 0 {
		l.fail(fmt.Errorf("the link %q leads to %.80q, where none can lead", at, target))
		return
	}
	left := Left{Part: part(at, outcome.Symlink), Inline: []byte(target), Here: true}
	left.Size, left.Digest = int64(len(target)), outcome.Of(left.Inline)
	l.add(left)
}

func part(at string, form outcome.Form) outcome.Part {
	return outcome.Part{Key: outcome.Key{Place: outcome.File, Path: at}, Form: form}
}

// enters counts an entry, of which there may be so many, also when a small tree names the
// same folder again and again.
func (l *looking) enters(at string) bool {
	if l.err != nil {
		return false
	}
	if l.entries++; l.entries > FilesMax || len(at) >= pathBytesMax {
		l.fail(ErrTooMany)
		return false
	}
	if err := checkPath(at); err != nil {
		l.fail(err)
		return false
	}
	return true
}

// reads counts the bytes of a message, of which a small tree may name a large one again and
// again.
func (l *looking) reads(size int64) bool {
	if l.room -= aroundMessage; size > l.room {
		l.fail(ErrTooMany)
	}
	l.room -= size
	if l.ctx.Err() != nil {
		l.fail(l.ctx.Err())
	}
	return l.err == nil
}

func (l *looking) add(left Left) { l.found = append(l.found, left) }

func (l *looking) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}
