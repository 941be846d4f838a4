package faults

import (
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// The methods of this file answer the calls of the kernel. Each one calls enter first, which may
// return the error of a fault, and then locks the disk.

// hold locks the disk.
func (m *mount) hold() *disk {
	m.disk.mu.Lock()
	return m.disk
}

func (m *mount) node(id uint64) *node {
	d := m.hold()
	defer d.mu.Unlock()
	return d.nodes[id]
}

func (n *node) attr(out *fuse.Attr) {
	size := uint64(len(n.text))
	*out = fuse.Attr{
		Ino: n.id, Size: size, Blocks: (size + sector - 1) / sector, Blksize: 4096, Mode: n.mode, Nlink: n.links,
		Mtime: uint64(n.changed.Unix()), Mtimensec: uint32(n.changed.Nanosecond()),
		Ctime: uint64(n.changed.Unix()), Ctimensec: uint32(n.changed.Nanosecond()),
	}
}

func (n *node) entry(out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	n.attr(&out.Attr)
}

func (m *mount) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	folder := m.node(in.NodeId)
	if s := m.enter("lookup", folder, name); !s.Ok() {
		return s
	}
	defer m.hold().mu.Unlock()
	n := folder.names[name]
	if n == nil {
		return fuse.ENOENT
	}
	n.entry(out)
	return fuse.OK
}

func (m *mount) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := m.node(in.NodeId)
	if s := m.enter("stat", n, ""); !s.Ok() {
		return s
	}
	defer m.hold().mu.Unlock()
	n.attr(&out.Attr)
	return fuse.OK
}

func (m *mount) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := m.node(in.NodeId)
	op := "chmod"
	size, resize := in.GetSize()
	if resize {
		op = "truncate"
	}
	if s := m.enter(op, n, ""); !s.Ok() {
		return s
	}
	defer m.hold().mu.Unlock()
	if mode, ok := in.GetMode(); ok {
		n.mode = n.mode&syscall.S_IFMT | mode&^syscall.S_IFMT
	}
	if resize {
		n.edit(edit{at: int(size)})
	}
	if at, ok := in.GetMTime(); ok {
		n.changed = at
	}
	n.attr(&out.Attr)
	return fuse.OK
}

// create makes a node with a name that is free.
func (m *mount) create(folder *node, name string, mode uint32, text string, out *fuse.EntryOut) fuse.Status {
	d := m.hold()
	defer d.mu.Unlock()
	if folder.names[name] != nil {
		return fuse.Status(syscall.EEXIST)
	}
	n := d.add(mode)
	n.text = []byte(text)
	d.apply(change{{folder, name, n}})
	n.entry(out)
	return fuse.OK
}

func (m *mount) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	folder := m.node(in.NodeId)
	if s := m.enter("mkdir", folder, name); !s.Ok() {
		return s
	}
	return m.create(folder, name, syscall.S_IFDIR|in.Mode&0o7777, "", out)
}

func (m *mount) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	folder := m.node(in.NodeId)
	if s := m.enter("create", folder, name); !s.Ok() {
		return s
	}
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	return m.create(folder, name, syscall.S_IFREG|in.Mode&0o7777, "", &out.EntryOut)
}

// Tmpfile is for O_TMPFILE: a file without a name.
func (m *mount) Tmpfile(_ <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	if s := m.enter("tmpfile", m.node(in.NodeId), ""); !s.Ok() {
		return s
	}
	d := m.hold()
	defer d.mu.Unlock()
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	d.add(syscall.S_IFREG | in.Mode&0o7777).entry(&out.EntryOut)
	return fuse.OK
}

func (m *mount) Symlink(_ <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	folder := m.node(in.NodeId)
	if s := m.enter("symlink", folder, name); !s.Ok() {
		return s
	}
	return m.create(folder, name, syscall.S_IFLNK|0o777, target, out)
}

func (m *mount) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	folder, n := m.node(in.NodeId), m.node(in.Oldnodeid)
	if s := m.enter("link", folder, name); !s.Ok() {
		return s
	}
	d := m.hold()
	defer d.mu.Unlock()
	if folder.names[name] != nil {
		return fuse.Status(syscall.EEXIST)
	}
	d.apply(change{{folder, name, n}})
	n.entry(out)
	return fuse.OK
}

func (m *mount) Readlink(_ <-chan struct{}, in *fuse.InHeader) ([]byte, fuse.Status) {
	n := m.node(in.NodeId)
	s := m.enter("readlink", n, "")
	return n.text, s
}

func (m *mount) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return m.remove("unlink", m.node(in.NodeId), name)
}

func (m *mount) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return m.remove("rmdir", m.node(in.NodeId), name)
}

func (m *mount) remove(op string, folder *node, name string) fuse.Status {
	if s := m.enter(op, folder, name); !s.Ok() {
		return s
	}
	d := m.hold()
	defer d.mu.Unlock()
	switch n := folder.names[name]; {
	case n == nil:
		return fuse.ENOENT
	case len(n.names) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	}
	d.apply(change{{folder, name, nil}})
	return fuse.OK
}

func (m *mount) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	source, target := m.node(in.NodeId), m.node(in.Newdir)
	if s := m.enter("rename", source, from); !s.Ok() {
		return s
	}
	const noReplace = 1
	d := m.hold()
	defer d.mu.Unlock()
	n, old := source.names[from], target.names[to]
	switch {
	case n == nil:
		return fuse.ENOENT
	case in.Flags&^noReplace != 0:
		return fuse.EINVAL
	case old != nil && in.Flags&noReplace != 0:
		return fuse.Status(syscall.EEXIST)
	case old != nil && len(old.names) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	case n != old: // of two names for one file both stay
		d.apply(change{{source, from, nil}, {target, to, n}})
	}
	return fuse.OK
}

func (m *mount) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	return m.enter("open", m.node(in.NodeId), "")
}

func (m *mount) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n := m.node(in.NodeId)
	half, s := m.pass("read", n, "")
	if !s.Ok() {
		return nil, s
	}
	defer m.hold().mu.Unlock()
	got := 0
	if in.Offset < uint64(len(n.text)) {
		got = copy(buf, n.text[in.Offset:])
	}
	return fuse.ReadResultData(buf[:halved(got, half)]), fuse.OK
}

func (m *mount) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	n := m.node(in.NodeId)
	half, s := m.pass("write", n, "")
	if !s.Ok() {
		return 0, s
	}
	defer m.hold().mu.Unlock()
	data = slices.Clone(data[:halved(len(data), half)])
	n.edit(edit{int(in.Offset), data})
	return uint32(len(data)), fuse.OK
}

func (m *mount) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	n := m.node(in.NodeId)
	if s := m.enter("fallocate", n, ""); !s.Ok() {
		return s
	}
	defer m.hold().mu.Unlock()
	if in.Mode != 0 {
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	if end := int(in.Offset + in.Length); end > len(n.text) {
		n.edit(edit{at: end})
	}
	return fuse.OK
}

func (m *mount) Flush(_ <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	return m.enter("close", m.node(in.NodeId), "")
}

func (m *mount) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	n := m.node(in.NodeId)
	if s := m.enter("fsync", n, ""); !s.Ok() {
		return s
	}
	d := m.hold()
	defer d.mu.Unlock()
	d.flush(n)
	return fuse.OK
}

func (m *mount) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return m.Fsync(cancel, in)
}

func (m *mount) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	n := m.node(in.NodeId)
	if s := m.enter("opendir", n, ""); !s.Ok() {
		return s
	}
	d := m.hold()
	defer d.mu.Unlock()
	list := []fuse.DirEntry{{Name: ".", Ino: n.id, Mode: n.mode}, {Name: "..", Ino: n.id, Mode: n.mode}}
	for name, child := range n.names {
		list = append(list, fuse.DirEntry{Name: name, Ino: child.id, Mode: child.mode})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastFH++
	m.lists[m.lastFH], out.Fh = list, m.lastFH
	return fuse.OK
}

func (m *mount) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if s := m.enter("readdir", m.node(in.NodeId), ""); !s.Ok() {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.lists[in.Fh]
	for _, e := range list[min(in.Offset, uint64(len(list))):] {
		if !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

func (m *mount) ReleaseDir(in *fuse.ReleaseIn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.lists, in.Fh)
}

func (m *mount) StatFs(_ <-chan struct{}, in *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	const blocks = 1 << 20
	*out = fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Bsize: 4096, Frsize: 4096, NameLen: 255, Files: blocks, Ffree: blocks}
	return m.enter("statfs", m.node(in.NodeId), "")
}

// halved returns n, or half of it, rounded up.
func halved(n int, half bool) int {
	if half {
		return (n + 1) / 2
	}
	return n
}
