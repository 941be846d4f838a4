package faults

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// A mount serves a disk to the kernel, and does to calls what its fault says. Nothing is cached in
// the kernel, so that every read and write of a process is a call.
type mount struct {
	fuse.RawFileSystem
	dir  string
	disk *disk

	unmount func() // may be called again

	mu     sync.Mutex
	fault  fault
	calls  []call // since the fault was set
	lists  map[uint64][]fuse.DirEntry
	lastFH uint64
}

// A call is one that a process made of the file system.
type call struct{ op, name string }

// mounted mounts a disk at a folder, until unmount or the end of the test.
func mounted(t *testing.T, dir string, d *disk) *mount {
	t.Helper()
	m, server, err := mountAt(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	m.unmount = sync.OnceFunc(func() {
		if err := server.Unmount(); err != nil {
			// a process that a test left behind has a file open: detach it anyway
			t.Errorf("unmount: %v", err)
			_ = syscall.Unmount(m.dir, syscall.MNT_DETACH)
		}
	})
	t.Cleanup(m.unmount)
	return m
}

func mountAt(dir string, d *disk) (*mount, *fuse.Server, error) {
	m := &mount{RawFileSystem: fuse.NewDefaultRawFileSystem(), dir: dir, disk: d, lists: map[uint64][]fuse.DirEntry{}}
	server, err := fuse.NewServer(m, dir, &fuse.MountOptions{
		DirectMountStrict: true, FsName: fsName, MaxWrite: 1 << 20, DisableXAttrs: true,
		DisableReadDirPlus: true, SyncRead: true,
		Logger: slog.NewLogLogger(slog.DiscardHandler, 0), // it tells of every unmount
	})
	if err != nil {
		return nil, nil, err
	}
	go server.Serve()
	return m, server, server.WaitMount()
}

const fsName = "muster-faults"

// detachDead takes away mounts that a killed test left.
func detachDead() {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		words := strings.Fields(line)
		if words[0] != fsName {
			continue
		}
		if _, err := os.Stat(words[1]); errors.Is(err, syscall.ENOTCONN) {
			_ = syscall.Unmount(words[1], syscall.MNT_DETACH)
		}
	}
}

// begin sets the fault. It returns the one before, and the calls since that was set.
func (m *mount) begin(f fault) (before fault, calls []call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, calls = m.fault, m.calls
	m.fault, m.calls = f, nil
	return before, calls
}

// enter begins every call. If its status is not OK, the call returns it.
func (m *mount) enter(op string, n *node, name string) fuse.Status {
	_, s := m.pass(op, n, name)
	return s
}

// pass also returns whether the call is to do half of its work.
func (m *mount) pass(op string, n *node, name string) (half bool, s fuse.Status) {
	m.mu.Lock()
	c := call{op, n.path}
	if name != "" {
		c.name += "/" + name
	}
	m.calls = append(m.calls, c)
	does, k := m.fault.does(c), m.fault.kind
	m.mu.Unlock()
	if !does {
		return false, fuse.OK
	}
	<-time.After(k.delay)
	return k.half, fuse.Status(k.err)
}
