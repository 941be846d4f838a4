//go:build (amd64 || arm64) && !purego

package observe

import (
	"syscall"
	"unsafe"
)

// Supported reports whether this build can observe. The kernel may refuse all the same.
const Supported = true

// CloneFiles is CLONE_FILES: a command starts with the descriptors of the helper, so that both
// have the listener, and gives them up before it executes.
const CloneFiles = syscall.CLONE_FILES

// Observer observes one command at a time. One thread uses it, which must not wait for the
// command in another way than by Serve.
type Observer struct {
	inside   []string // folders of the case itself
	network  bool     // cases reach other processes by the network
	listener int      // descriptor, or -1

	filter  []instruction
	program *program
	seen    map[string]int // indices of Accesses, by path
	bytes   int            // of all paths
	result  Observation
	buffer  pages
}

// New returns an Observer. It leaves out paths below the folders inside. If network is false,
// internet addresses are those of the case itself.
func New(inside []string, network bool) *Observer {
	return &Observer{inside: inside, network: network, listener: -1}
}

// Begin forgets the last observation. It returns the address of the argument of seccomp(2) that
// stops a process, except at its execve with these addresses.
func (o *Observer) Begin(path, args uintptr) uintptr {
	o.filter = compile(path, args)
	o.program = assemble(o.filter)
	o.seen, o.bytes, o.result = map[string]int{}, 0, Observation{}
	return uintptr(unsafe.Pointer(o.program))
}

// Attach sets the descriptor that seccomp(2) returned for the command. The Observer closes it.
func (o *Observer) Attach(listener int, noPrivileges bool) {
	const setFlags, syncWakeUp = 0x40082104, 1 // since Linux 6.6; without it, calls take longer
	flags := uint64(syncWakeUp)
	_, _, _ = syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(listener), setFlags, uintptr(unsafe.Pointer(&flags)))
	o.listener, o.result.NoPrivileges = listener, noPrivileges
}

// Refuse says that the kernel refuses the filter. The command runs unobserved.
func (o *Observer) Refuse() { o.result.Blind = "the kernel does not let muster watch system calls" }

// Listener returns the descriptor to poll, or -1 if nothing is observed.
func (o *Observer) Listener() int32 {
	if o == nil {
		return -1
	}
	return int32(o.listener)
}

// End returns the observation. Call it when no process of the command is left.
func (o *Observer) End() Observation {
	if o == nil {
		return Observation{Blind: "the lane does not see its processes in /proc"}
	}
	o.close()
	o.seen = nil
	return o.result
}

func (o *Observer) close() {
	if o.listener >= 0 {
		_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(o.listener), 0, 0)
		o.listener = -1
	}
}

// notification is struct seccomp_notif.
type notification struct {
	id     uint64
	pid    uint32
	flags  uint32
	number int32
	arch   uint32
	ip     uint64
	args   [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// Serve handles the calls that wait, when the listener is readable. hungUp says that the last
// process that the filter stops has ended.
func (o *Observer) Serve(hungUp bool) {
	const (
		receive   = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
		respond   = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
		continue_ = 1          // SECCOMP_USER_NOTIF_FLAG_CONTINUE
	)
	if hungUp {
		o.close()
		return
	}
	var n notification
	if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(o.listener), receive, uintptr(unsafe.Pointer(&n))); e != 0 {
		return // the process was killed meanwhile
	}
	o.result.Events++
	if o.result.Blind == "" {
		o.record(&n)
	}
	r := response{id: n.id, flags: continue_}
	_, _, _ = syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(o.listener), respond, uintptr(unsafe.Pointer(&r)))
}

const foreign = "the tool runs programs of another architecture"

// record adds what a call uses.
func (o *Observer) record(n *notification) {
	if n.arch != auditArch {
		o.result.Blind = foreign
		return
	}
	c := shapeOf(n.number)
	switch {
	case c == nil:
		o.result.Blind = foreign // numbers of x32
	case c.number == SysSeccomp && !listens(&n.args):
	case c.blind != "":
		o.result.Blind = c.blind
	case c.socket > 0:
		o.failIfHidden(o.recordContact(n.pid, n.args[c.socket], n.args[c.socket+1]))
	default:
		o.failIfHidden(o.recordPath(n.pid, c, &n.args))
	}
}

// failIfHidden ends the observation if the kernel refused to show a process. Other errors are
// those of the call itself, which fails in the same way.
func (o *Observer) failIfHidden(err error) {
	if err == syscall.EACCES || err == syscall.EPERM {
		o.result.Blind = "the tool runs a program that may not be inspected"
	}
}

// recordPath adds the path of a call.
func (o *Observer) recordPath(pid uint32, c *shape, args *[6]uint64) (err error) {
	kind, folder, path := c.kind, int32(atCwd), ""
	if kind == 0 {
		flags := args[c.flags]
		if c.how {
			var first [8]byte
			if err := readFrom(pid, flags, first[:]); err != nil {
				return err
			}
			flags = *(*uint64)(unsafe.Pointer(&first))
		}
		kind = kindOfFlags(flags)
	}
	if c.folder != none {
		folder = int32(args[c.folder])
	}
	if c.path != none {
		if path, err = o.buffer.readString(pid, args[c.path]); err != nil {
			return err
		}
		if path == "" && !c.mayBeEmpty {
			return nil // the call fails, or it means a descriptor that was seen when it was opened
		}
	}
	if path, err = absolute(pid, folder, path); err == nil {
		o.add(path, kind)
	}
	return err
}

// recordContact adds the address of a connect(2), if a process outside the case may be there.
func (o *Observer) recordContact(pid uint32, at, size uint64) error {
	var b [128]byte
	size = min(size, uint64(len(b)))
	if err := readFrom(pid, at, b[:size]); err != nil {
		return err
	}
	to := parseAddress(b[:size])
	if to.shared != "" && o.network {
		o.result.Contact = to.shared
	}
	if to.path == "" {
		return nil
	}
	path, err := absolute(pid, atCwd, to.path)
	if err != nil || o.isLeftOut(withoutDots(path)) {
		return err
	}
	o.add(path, Asked) // a server may appear there
	if _, form := find(path); form != Absent {
		o.result.Contact = "socket " + path
	}
	return nil
}

// add adds a path, or a kind of its use.
func (o *Observer) add(path string, kind Kind) {
	if i, known := o.seen[path]; known {
		if i >= 0 {
			o.result.Accesses[i].Kind |= kind
		}
		return
	}
	if len(o.seen) >= accessesMax || o.bytes+len(path) > pathBytesMax {
		o.result.Blind = "the tool uses too many files"
		return
	}
	o.bytes += len(path)
	if o.isLeftOut(withoutDots(path)) {
		o.seen[path] = -1
		return
	}
	a := Access{Path: path, Kind: kind}
	a.Real, a.Form = find(path)
	if a.Form != Absent && o.isLeftOut(a.Real) {
		o.seen[path] = -1
		return
	}
	o.seen[path] = len(o.result.Accesses)
	o.result.Accesses = append(o.result.Accesses, a)
}

// isLeftOut reports whether a path belongs to the case itself or to the kernel.
func (o *Observer) isLeftOut(path string) bool {
	for _, folder := range o.inside {
		if isBelow(path, folder) {
			return true
		}
	}
	return isBelow(path, "/proc") || isBelow(path, "/sys") || isBelow(path, "/dev") && !isBelow(path, "/dev/shm")
}
