package faults

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A disk is a file system in memory that knows what a flush has made durable. It is stricter than
// most real ones: a flush of a file keeps its text, and only a flush of a folder keeps the names in
// it.
type disk struct {
	mu     sync.Mutex
	root   *node
	nodes  map[uint64]*node
	last   uint64
	recent []change // of names, since their folders were flushed
}

// A node is a file, a folder or a symbolic link.
type node struct {
	id      uint64
	mode    uint32 // kind and permissions, as in stat
	links   uint32
	path    string // by which it was named last
	changed time.Time

	text    []byte           // of a file, as processes see it; the target of a link
	flushed []byte           // of a file, at its last flush
	edits   []edit           // of a file, since then
	names   map[string]*node // of a folder, as processes see it
	durable map[string]*node // of a folder, as a power loss would leave them
}

// An edit writes data at a place of a file, or changes its size if data is nil.
type edit struct {
	at   int
	data []byte
}

// A change of names happens as a whole or not at all. A rename is one change with two moves.
type change []move

// A move makes a name in a folder stand for a node, or for nothing.
type move struct {
	folder *node
	name   string
	to     *node
}

// sector is the number of bytes that a power loss keeps or loses together.
const sector = 512

func newDisk() *disk {
	d := &disk{nodes: map[uint64]*node{}}
	d.root = d.add(syscall.S_IFDIR | 0o755)
	d.root.links = 1
	return d
}

// add returns a new node without a name.
func (d *disk) add(mode uint32) *node {
	d.last++
	n := &node{id: d.last, mode: mode, changed: time.Now()}
	if n.isFolder() {
		n.names, n.durable = map[string]*node{}, map[string]*node{}
	}
	d.nodes[n.id] = n
	return n
}

func (n *node) isFolder() bool { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }

// apply makes one change of names. A folder has one link here.
func (d *disk) apply(c change) {
	for _, m := range c {
		if old := m.folder.names[m.name]; old != nil {
			old.links--
		}
		delete(m.folder.names, m.name)
		if m.to != nil {
			m.to.links++
			m.folder.names[m.name] = m.to
			m.to.path = m.folder.path + "/" + m.name
		}
		m.folder.changed = time.Now()
	}
	d.recent = append(d.recent, c)
}

func (c change) makeDurable() {
	for _, m := range c {
		delete(m.folder.durable, m.name)
		if m.to != nil {
			m.folder.durable[m.name] = m.to
		}
	}
}

// edit changes the text of a file.
func (n *node) edit(e edit) {
	n.text = e.in(n.text)
	n.edits = append(n.edits, e)
	n.changed = time.Now()
}

// in returns text with the edit. It may reuse text's memory.
func (e edit) in(text []byte) []byte {
	end := e.at + len(e.data)
	if e.data == nil && end < len(text) {
		return text[:end]
	}
	if end > len(text) {
		text = append(text, make([]byte, end-len(text))...)
	}
	copy(text[e.at:], e.data)
	return text
}

// flush makes durable the text of a file, or the names in a folder. A change that also touches a second
// folder takes that folder's earlier changes with it, because they stay in order.
func (d *disk) flush(n *node) {
	if !n.isFolder() {
		n.flushed, n.edits = bytes.Clone(n.text), nil
		return
	}
	folders := map[*node]bool{n: true}
	var kept, left []change
	for _, c := range slices.Backward(d.recent) {
		if !c.touches(folders) {
			left = append(left, c)
			continue
		}
		for _, m := range c {
			folders[m.folder] = true
		}
		kept = append(kept, c)
	}
	for _, c := range slices.Backward(kept) {
		c.makeDurable()
	}
	slices.Reverse(left)
	d.recent = left
}

// flushAll makes everything durable.
func (d *disk) flushAll() {
	for _, n := range d.nodes {
		d.flush(n)
	}
}

func (c change) touches(folders map[*node]bool) bool {
	return slices.ContainsFunc(c, func(m move) bool { return folders[m.folder] })
}

// A loss says how much is left of what was not flushed. Shares are between 0 and 1.
type loss struct {
	names float64 // the share of the changes of names that are kept. Once one is lost, later ones in that folder are lost too.
	edits float64 // the share of the edits, or of their sectors, that are kept, in any order
	torn  bool    // edits are torn into sectors
}

// losses are the kinds of power loss that tests draw from. The first loses all, the last nothing.
var losses = []loss{{}, {names: 1}, {edits: 1}, {0.5, 0.5, false}, {0.9, 0.5, true}, {1, 0.5, true}, {1, 0.9, false}, {1, 1, false}}

// lose returns the disk as it is after a power loss.
func (d *disk) lose(l loss, r *rand.Rand) *disk {
	after := d.clone()
	lost := map[*node]bool{}
	for _, c := range after.recent {
		if c.touches(lost) || r.Float64() >= l.names {
			for _, m := range c {
				lost[m.folder] = true
			}
			continue
		}
		c.makeDurable()
	}
	for _, id := range slices.Sorted(maps.Keys(after.nodes)) {
		n := after.nodes[id]
		n.names = maps.Clone(n.durable)
		if n.mode&syscall.S_IFMT == syscall.S_IFREG {
			n.text = n.survivors(l, r)
			n.flushed = bytes.Clone(n.text)
		}
		n.edits, n.links = nil, 0
	}
	for _, n := range after.nodes {
		for _, child := range n.names {
			child.links++
		}
	}
	after.root.links, after.recent = 1, nil
	return after
}

func (n *node) survivors(l loss, r *rand.Rand) []byte {
	text := bytes.Clone(n.flushed)
	for _, e := range n.edits {
		if !l.torn || e.data == nil {
			if r.Float64() < l.edits {
				text = e.in(text)
			}
			continue
		}
		for at, end := e.at, e.at+len(e.data); at < end; {
			next := min(end, (at/sector+1)*sector)
			if r.Float64() < l.edits {
				text = edit{at, e.data[at-e.at : next-e.at]}.in(text)
			}
			at = next
		}
	}
	return text
}

// clone returns a copy that shares nothing with d.
func (d *disk) clone() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &disk{nodes: map[uint64]*node{}, last: d.last}
	for id, n := range d.nodes {
		copied := *n
		copied.text, copied.flushed, copied.edits = bytes.Clone(n.text), bytes.Clone(n.flushed), slices.Clone(n.edits)
		c.nodes[id] = &copied
	}
	in := func(names map[string]*node) map[string]*node {
		if names == nil {
			return nil
		}
		copied := make(map[string]*node, len(names))
		for name, n := range names {
			copied[name] = c.nodes[n.id]
		}
		return copied
	}
	for _, n := range c.nodes {
		n.names, n.durable = in(n.names), in(n.durable)
	}
	for _, moves := range d.recent {
		var copied change
		for _, m := range moves {
			to := m.to
			if to != nil {
				to = c.nodes[to.id]
			}
			copied = append(copied, move{c.nodes[m.folder.id], m.name, to})
		}
		c.recent = append(c.recent, copied)
	}
	c.root = c.nodes[d.root.id]
	return c
}
