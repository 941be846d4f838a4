//go:build (amd64 || arm64) && !purego

package observe

import (
	"cmp"
	"slices"
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
	own      folders
	network  bool   // cases reach other processes by the network
	listener int    // descriptor, or -1
	page     []byte // holds the path of the command's executable

	filter  []instruction
	program *program
	seen    map[Access]bool // what was met in this run
	bytes   int             // of all paths
	result  Observation
	buffer  pages
}

// New returns an Observer. It leaves out paths below the folders inside, except those shown. If
// network is false, internet addresses are those of the case itself.
func New(inside []string, tmp string, shown []string, network bool) *Observer {
	return &Observer{own: folders{inside, tmp, shown}, network: network, listener: -1}
}

// Begin forgets the last observation. It returns the address of the argument of seccomp(2) that
// stops a process, and the address of the path of the executable: the execve with that address
// passes. The address is one that the kernel chose by chance, so that no program has it later.
func (o *Observer) Begin(path string) (filter, executable uintptr, err error) {
	if o.page == nil {
		const size = 2 * pageBytes
		if o.page, err = syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON); err != nil {
			return 0, 0, err
		}
	}
	if len(path) >= len(o.page) {
		return 0, 0, syscall.ENAMETOOLONG
	}
	o.page[copy(o.page, path)] = 0
	executable = uintptr(unsafe.Pointer(unsafe.SliceData(o.page)))
	o.filter = compile(executable)
	o.program = &program{length: uint16(len(o.filter)), first: unsafe.SliceData(o.filter)}
	o.seen, o.bytes, o.result = map[Access]bool{}, 0, Observation{}
	return uintptr(unsafe.Pointer(o.program)), executable, nil
}

// Attach sets the descriptor that seccomp(2) returned for the command. The Observer closes it.
func (o *Observer) Attach(listener int, noPrivileges bool) {
	const setFlags, syncWakeUp = 0x40082104, 1 // since Linux 6.6; without it, calls take longer
	flags := uint64(syncWakeUp)
	_, _, _ = syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(listener), setFlags, uintptr(unsafe.Pointer(&flags)))
	o.listener, o.result.NoPrivileges = listener, noPrivileges
}

// Started notes what the kernel opened to start the command, whose execve passed the filter.
func (o *Observer) Started(pid int, path string) {
	list, err := o.execute(uint32(pid), atCwd, path)
	if err != nil {
		o.result.Blind = "the tool runs a program that may not be inspected"
	}
	for _, a := range list {
		o.add(a)
	}
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
	if o.page != nil {
		_ = syscall.Munmap(o.page)
		o.page = nil
	}
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

// servedMax bounds the calls of one Serve, so that a busy command does not hold up its limits.
const servedMax = 64

// Serve handles the calls that wait, when the listener is readable. hungUp says that the last
// process that the filter stops has ended.
func (o *Observer) Serve(hungUp bool) {
	if hungUp {
		o.close()
		return
	}
	for range servedMax {
		if !o.serveOne() || !o.isReadable() {
			return
		}
	}
}

// isReadable reports whether a call waits.
func (o *Observer) isReadable() bool {
	const in = 1 // POLLIN
	fd := struct {
		fd              int32
		events, revents int16
	}{fd: int32(o.listener), events: in}
	var now syscall.Timespec
	n, _, _ := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return n == 1 && fd.revents&in != 0
}

// serveOne notes what a call uses, and lets it continue. It returns false if the call is gone: its
// process was killed, or a signal interrupted it.
func (o *Observer) serveOne() bool {
	const (
		receive   = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
		respond   = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
		isValid   = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID
		continue_ = 1          // SECCOMP_USER_NOTIF_FLAG_CONTINUE
	)
	var n notification
	if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(o.listener), receive, uintptr(unsafe.Pointer(&n))); e != 0 {
		return false
	}
	o.result.Events++
	if o.result.Blind == "" {
		list, blind := o.read(&n)
		// What was read is of this process only if it still waits: the number may be that of another.
		if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(o.listener), isValid, uintptr(unsafe.Pointer(&n.id))); e != 0 {
			return false
		}
		o.result.Blind = blind
		for _, a := range list {
			o.add(a)
		}
	}
	r := response{id: n.id, flags: continue_}
	_, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(o.listener), respond, uintptr(unsafe.Pointer(&r)))
	return e == 0
}

const foreign = "the tool runs programs of another architecture"

// read returns what a call uses, or why that cannot be known.
func (o *Observer) read(n *notification) (list []Access, blind string) {
	if n.arch != auditArch {
		return nil, foreign
	}
	known := false
	for i := range shapes {
		s := &shapes[i]
		if s.number != int(n.number) {
			continue
		}
		known = true
		if s.blind != "" {
			return nil, s.blind
		}
		if (s.number == sysOpenTree || s.number == sysOpenTreeAttr) && n.args[2]&openTreeClone != 0 {
			return nil, changesRoot
		}
		var used []Access
		var err error
		if s.number == SysSeccomp || s.number == syscall.SYS_PRCTL {
			program, stops := ownFilter(s.number, &n.args)
			if program != 0 && !stops {
				stops, err = stopsCalls(n.pid, program)
			}
			if stops {
				return nil, stopsItself
			}
		} else {
			used, err = o.readShape(n.pid, s, &n.args)
		}
		switch err {
		case nil:
			list = append(list, used...)
		case syscall.EACCES, syscall.EPERM:
			return nil, "the tool runs a program that may not be inspected"
		case errUnseen:
			return nil, "the tool uses a folder or a program that has no path"
		case errOtherRoot:
			return nil, changesRoot
		default: // the call itself fails in the same way
		}
	}
	if !known {
		return nil, foreign // numbers of x32
	}
	return list, ""
}

// readShape returns the paths that a call uses outside the case.
func (o *Observer) readShape(pid uint32, s *shape, args *[6]uint64) (list []Access, err error) {
	var a Access
	path, folder, isSocket := "", int32(atCwd), s.message || s.socket > 0
	switch {
	case s.message:
		var header [16]byte // the address of a name, and its size
		if err = readFrom(pid, args[1], header[:]); err == nil {
			path, err = o.readAddress(pid, s.kind, wordAt(header[:], 0), wordAt(header[:], 8)&0xffff_ffff)
		}
	case s.socket > 0:
		path, err = o.readAddress(pid, s.kind, args[s.socket], args[s.socket+1])
	case s.path != none:
		path, err = o.buffer.readString(pid, args[s.path])
	}
	if err != nil || path == "" && s.path != none && !s.mayBeEmpty {
		return nil, err // nothing is named, or a descriptor that was seen when it was opened
	}
	if !isSocket && s.folder != none {
		folder = int32(args[s.folder])
	}
	if a.Kind = s.kind; a.Kind == 0 {
		if a.Kind, err = kindOfOpen(pid, s, args); err != nil {
			return nil, err
		}
	}
	if a.Kind == Executed {
		return o.execute(pid, folder, path)
	}
	var inside string
	a.Path, inside, err = o.locate(pid, folder, path, s.kind&Written == 0)
	if err != nil || a.Path == "" {
		return o.own.miss(inside, a.Kind), err
	}
	return []Access{a}, nil
}

// openTreeClone makes a tree of folders that no path leads to.
const openTreeClone = 1

// errOtherRoot says that links and ".." lead elsewhere than for other calls.
const errOtherRoot = syscall.EXDEV

// kindOfOpen returns the kind of an open call.
func kindOfOpen(pid uint32, s *shape, args *[6]uint64) (Kind, error) {
	if !s.how {
		return kindOfFlags(args[s.flags]), nil
	}
	const resolveInRoot = 0x10
	var how [24]byte // flags, mode, resolve
	if err := readFrom(pid, args[s.flags], how[:]); err != nil {
		return 0, err
	}
	if wordAt(how[:], 16)&resolveInRoot != 0 {
		return 0, errOtherRoot
	}
	return kindOfFlags(wordAt(how[:], 0)), nil
}

// readAddress returns the path of a socket's address. It notes an address in the network.
func (o *Observer) readAddress(pid uint32, kind Kind, at, size uint64) (path string, err error) {
	if at == 0 {
		return "", nil // the socket is connected
	}
	var b [128]byte
	size = min(size, uint64(len(b)))
	if err := readFrom(pid, at, b[:size]); err != nil {
		return "", err
	}
	to := parseAddress(b[:size])
	if to.shared != "" && o.network && kind == Connected {
		o.result.Contact = to.shared
	}
	return to.path, nil
}

// locate returns the path of a use from the root, or where it is inside the case. last says that the call follows a
// link at the end of the path.
func (o *Observer) locate(pid uint32, folder int32, path string, last bool) (outside, inside string, err error) {
	path, err = absolute(pid, folder, path)
	if err != nil {
		return "", "", err
	}
	for range linksMax {
		path = throughProc(pid, path)
		to, absent := o.own.leave(path, last)
		if to == "" {
			return "", cmp.Or(absent, path), nil
		}
		if to == path {
			break
		}
		path = to // perhaps into the case, or back to /proc
	}
	return path, "", nil
}

// add adds a path, or a kind of its use. It leaves out files of the kernel.
func (o *Observer) add(a Access) {
	path := withoutDots(a.Path)
	isLost := a.Kind&Written != 0 && (a.Kind&missed != 0 || path == "/dev/null")
	if lost := o.result.Lost; isLost && len(lost) < LostMax && !slices.Contains(lost, path) {
		o.result.Lost = append(lost, path)
	}
	if a.Kind&missed != 0 {
		o.result.Missed = slices.DeleteFunc(o.result.Missed, func(path string) bool { return path == a.Path })
		if a.Kind&Written == 0 && len(o.result.Missed) < missedMax {
			o.result.Missed = append(o.result.Missed, a.Path)
		}
		return
	}
	if IsKernels(path) {
		return
	}
	if o.seen[a] {
		return
	}
	bytes := len(a.Path) + len(a.Folder) + len(a.Head)
	if len(o.seen) >= accessesMax || o.bytes+bytes > pathBytesMax {
		o.result.Blind = "the tool uses too many files"
		return
	}
	o.bytes += bytes
	o.seen[a] = true
	o.result.Accesses = append(o.result.Accesses, a)
}
