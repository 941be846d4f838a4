package client

import (
	"sync"

	"muster/regress/internal/exec/reapi/blob"
)

// knownBlobs remembers which contents the engine has, and which are being sent. It keeps the
// latest ones: when a generation is full, it becomes the older one, and only contents that are
// asked for move to the new one.
type knownBlobs struct {
	mu            sync.Mutex
	recent, older map[blob.Digest]struct{}
	generationMax int
	pending       map[blob.Digest]*pendingUpload
}

// pendingUpload is a content that is being sent. Read err only after done is closed.
type pendingUpload struct {
	b         blob.Blob
	done      chan struct{}
	err       error
	batched   bool // it is in a batch, which settles it; only its sender uses this
	abandoned bool // its sender gave up, so another may send it
}

func newKnownBlobs(most int) *knownBlobs {
	return &knownBlobs{recent: map[blob.Digest]struct{}{}, generationMax: max(most/2, 1), pending: map[blob.Digest]*pendingUpload{}}
}

// claim divides blobs into those that the caller must settle and those that others settle. It
// leaves out those that the engine has.
func (k *knownBlobs) claim(blobs []blob.Blob) (mine, others []*pendingUpload) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range blobs {
		if b.Digest.Size == 0 || k.has(b.Digest) {
			continue // every engine has the empty content
		}
		if u := k.pending[b.Digest]; u != nil {
			others = append(others, u)
			continue
		}
		u := &pendingUpload{b: b, done: make(chan struct{})}
		k.pending[b.Digest] = u
		mine = append(mine, u)
	}
	return mine, others
}

func (k *knownBlobs) has(d blob.Digest) bool {
	if _, ok := k.recent[d]; ok {
		return true
	}
	_, ok := k.older[d]
	if ok {
		k.put(d)
	}
	return ok
}

func (k *knownBlobs) put(d blob.Digest) {
	if len(k.recent) >= k.generationMax {
		k.older, k.recent = k.recent, make(map[blob.Digest]struct{}, k.generationMax/4)
	}
	k.recent[d] = struct{}{}
}

func (k *knownBlobs) settle(u *pendingUpload, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending[u.b.Digest] != u {
		return // settled before
	}
	delete(k.pending, u.b.Digest)
	if u.err = err; err == nil {
		k.put(u.b.Digest)
	}
	close(u.done)
}

func (k *knownBlobs) abandon(u *pendingUpload, err error) {
	k.mu.Lock()
	if k.pending[u.b.Digest] == u {
		u.abandoned = true
	}
	k.mu.Unlock()
	k.settle(u, err)
}

func (k *knownBlobs) forget(ds []blob.Digest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(ds) == 0 {
		k.recent, k.older = map[blob.Digest]struct{}{}, nil
	}
	for _, d := range ds {
		delete(k.recent, d)
		delete(k.older, d)
	}
}
