package fork

import (
	"hash/fnv"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// Server is a command that has started and stopped before it touched its source. It makes a fork of
// itself for each case. A fork is a child of the helper, as any command, and lives in a PID namespace
// of its own. That namespace has an init, which the shim made.
//
// A zero Server does not run, and neither does nil. One goroutine uses it.
type Server struct {
	pid     int           // 0 = it does not run
	initPID int           // 0 = it does not run
	linked  bool          // the sockets are open
	took    time.Duration // from the start to the stop
	control int           // to the server
	sweeper int           // to the init
	// siblings and orphans are descriptors of lists: the children of the thread that started the server,
	// and those of the init. A process that a fork left is among them, or is below one of them.
	siblings, orphans int
	path              string
	args              []string
	forked            bool // the present case is a fork
}

// Command is what a server starts.
type Command struct {
	Path   string
	Args   []string
	Source string // its path, as the command sees it. It is in its place
	// Stdin, Stdout and Stderr are descriptors like those of a fork. A server that wrote to them is not used.
	Stdin, Stdout, Stderr int

	Shim   string
	Env    []string
	Wait   time.Duration // for the stop
	Parent int           // descriptor that can be read when nobody waits for the case any more
	Start  func(c Command, fds []FD) (pid, pidfd int, err error)
	// MountProc mounts a /proc for one namespace in another. Both are descriptors.
	MountProc func(pids, mounts int) error
}

// FD is a descriptor and its number in a server.
type FD struct{ FD, Number int }

// The shim expects its sockets there.
const (
	controlFD = 250
	sweeperFD = 251
)

// Runs reports whether the server runs this command.
func (s *Server) Runs(path string, args []string) bool {
	return s.linked && s.path == path && slices.Equal(s.args, args)
}

// IsLinked reports whether the server runs.
func (s *Server) IsLinked() bool { return s != nil && s.linked }

// Took returns how long the command took until it stopped. A plain run takes as long before it
// touches its source.
func (s *Server) Took() time.Duration { return s.took }

// Start starts a server. It ends the one that runs.
func (s *Server) Start(c Command) error {
	s.Stop()
	if runtime.GOARCH != "amd64" {
		return &Refusal{"only x86-64 has fork servers"}
	}
	if c.Shim == "" {
		return &Refusal{"lanes have no namespaces of their own here"}
	}
	err := s.start(c)
	if err != nil {
		s.Stop()
	}
	return err
}

func (s *Server) start(c Command) error {
	ends, err := s.connect()
	if err != nil {
		return err
	}
	defer closeAll(ends[:])
	digest := fnv.New64a()
	_, _ = digest.Write([]byte(c.Path)) // it never fails
	setting := "MUSTER_FORK_SERVER=" + strconv.Itoa(controlFD) + "," + strconv.Itoa(sweeperFD) + "," +
		strconv.FormatUint(digest.Sum64()>>1, 10) + "," + c.Source
	c.Env = append(slices.Clip(c.Env), "LD_AUDIT="+c.Shim, setting)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if s.siblings, err = syscall.Open("/proc/thread-self/children", syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
		return &Refusal{"the kernel does not list the children of a process"}
	}
	pid, pidfd, err := c.Start(c, []FD{{c.Stdin, 0}, {c.Stdout, 1}, {c.Stderr, 2}, {ends[0], controlFD}, {ends[1], sweeperFD}})
	if err != nil {
		return &Refusal{"the kernel refuses a PID namespace for its forks (" + err.Error() + ")"}
	}
	defer closeAll([]int{pidfd})
	began := time.Now()
	s.pid, s.path, s.args = pid, string([]byte(c.Path)), s.args[:0]
	for _, a := range c.Args { // they are parts of a message
		s.args = append(s.args, string([]byte(a)))
	}
	if err := s.awaitStop(c, pidfd); err != nil {
		return err
	}
	s.took = time.Since(began)
	return s.mountProc(c)
}

// connect makes the sockets to the server and its init, and returns their other ends.
func (s *Server) connect() (ends [2]int, err error) {
	const kind = syscall.SOCK_SEQPACKET | syscall.SOCK_CLOEXEC
	control, err := syscall.Socketpair(syscall.AF_UNIX, kind, 0)
	if err != nil {
		return ends, err
	}
	sweeper, err := syscall.Socketpair(syscall.AF_UNIX, kind, 0)
	if err != nil {
		closeAll(control[:])
		return ends, err
	}
	s.control, s.sweeper, s.siblings, s.orphans, s.linked = control[0], sweeper[0], -1, -1, true
	patience := syscall.NsecToTimeval(int64(sweepPatience))
	return [2]int{control[1], sweeper[1]}, syscall.SetsockoptTimeval(s.sweeper, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &patience)
}

// awaitStop waits until the server has stopped, and learns the process number of the init.
func (s *Server) awaitStop(c Command, pidfd int) error {
	if pidfd < 0 {
		return &Refusal{"the kernel is too old"}
	}
	fds := [...]pollFD{{fd: int32(c.Parent), events: pollIn}, {fd: int32(s.control), events: pollIn}, {fd: int32(pidfd), events: pollIn}}
	err := poll(fds[:], c.Wait)
	if err != nil {
		return err
	}
	if fds[0].revents != 0 {
		return ErrParentGone
	}
	var m message
	ok := fds[1].revents&pollIn != 0 && m.receive(s.control)
	switch {
	case ok && m.kind == 'P':
		s.initPID = int(m.value)
		if !m.receive(s.sweeper) { // no case runs before the init protects itself
			return &Refusal{"the init of its forks did not start"}
		}
		pid := strconv.Itoa(s.initPID)
		s.orphans, err = syscall.Open("/proc/"+pid+"/task/"+pid+"/children", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		return err
	case ok && m.kind == 'R':
		return &Refusal{explain(m.value)}
	case fds[2].revents != 0:
		return &Refusal{"it is statically linked, changes its user, or ends before it touches its source"}
	}
	return &Refusal{"it did not touch its source within the time limit"}
}

// mountProc gives the forks a /proc of their own.
func (s *Server) mountProc(c Command) error {
	dir := "/proc/" + strconv.Itoa(s.pid) + "/ns/"
	pids, err := syscall.Open(dir+"pid_for_children", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &Refusal{"the kernel does not show the PID namespace of its forks"}
	}
	defer closeAll([]int{pids})
	mounts, err := syscall.Open(dir+"mnt", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &Refusal{"the kernel does not show its mount namespace"}
	}
	defer closeAll([]int{mounts})
	if c.MountProc(pids, mounts) != nil {
		return &Refusal{"the kernel refuses its forks a /proc of their own"}
	}
	return nil
}

// Fork makes a fork with these descriptors as its streams. pidfd is -1 where the kernel has none.
func (s *Server) Fork(stdin, stdout, stderr int) (pid, pidfd int, err error) {
	if !send(s.control, syscall.UnixRights(stdin, stdout, stderr)) {
		s.Stop()
		return 0, -1, &Refusal{"its server ended"}
	}
	var m message
	if !m.receive(s.control) || m.kind != 'F' || m.value <= 0 {
		s.Stop()
		return 0, -1, &Refusal{"its server cannot fork"}
	}
	s.forked = true
	return int(m.value), OpenPID(int(m.value)), nil
}

// sweepPatience is how long the init may take to end what a fork left. The helper then ends
// everything, with the server.
const sweepPatience = time.Second

// Left is what a fork left running.
type Left struct {
	Processes int
	CPU       time.Duration
	Peak      int64 // KiB, of the largest process
}

// HasForked reports whether the present case is a fork.
func (s *Server) HasForked() bool { return s.forked }

// Sweep ends what the present case, which is a fork, left in the namespace of the forks. The fork itself
// has been reaped. Sweep reports whether nothing is left there. Mostly both lists show that at once.
// Otherwise the init ends the rest.
func (s *Server) Sweep() (left Left, ok bool) {
	if !s.linked || !isOnlyChild(s.siblings, s.pid) {
		return left, false
	}
	if list := [1]byte{}; readList(s.orphans, list[:]) != 0 {
		var m message
		if !send(s.sweeper, nil) || !m.receive(s.sweeper) {
			return left, false
		}
		left = Left{int(m.kind), time.Duration(m.value), m.peak}
	}
	s.forked = false
	return left, true
}

// isOnlyChild reports whether a list of children has this process alone. A fork makes the helper another
// child with CLONE_PARENT. Once the fork has ended, nothing else can.
func isOnlyChild(siblings, pid int) bool {
	var list [32]byte
	n := readList(siblings, list[:])
	return n > 0 && string(list[:n]) == strconv.Itoa(pid)+" "
}

// readList reads the beginning of a list of children. It returns -1 if it cannot.
func readList(fd int, b []byte) int {
	n, _, e := syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	if e != 0 {
		return -1
	}
	return int(n)
}

// Is reports whether a process is the server.
func (s *Server) Is(pid int) bool { return pid != 0 && pid == s.pid }

// HasEnded notes that a process has ended, if it is the server or the init, and reports whether it is.
func (s *Server) HasEnded(pid int) bool {
	if s == nil || pid == 0 || pid != s.pid && pid != s.initPID {
		return false
	}
	if pid == s.pid {
		s.pid = 0
	} else {
		s.initPID = 0
	}
	s.hangUp()
	return true
}

// hangUp closes the sockets. The server and its init then end.
func (s *Server) hangUp() {
	if s.linked {
		closeAll([]int{s.control, s.sweeper, s.siblings, s.orphans})
	}
	s.linked, s.forked = false, false
}

// Stop ends the server, its init and the forks.
func (s *Server) Stop() {
	s.hangUp()
	for _, pid := range []*int{&s.pid, &s.initPID} { // the init is a child of the helper once the server is gone
		if *pid > 0 {
			_ = syscall.Kill(*pid, syscall.SIGKILL)
			WaitFor(*pid)
			*pid = 0
		}
	}
}

// WaitFor reaps a child and returns its status.
func WaitFor(pid int) (status syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &status, syscall.WALL, nil); err != syscall.EINTR {
			return status
		}
	}
}

// message is what server and init send. The shim has the same struct.
type message struct{ kind, value, peak int64 }

// receive reports whether a whole message came. The thread waits, as in all calls of the helper: another
// one would have to wake up.
func (m *message) receive(fd int) bool {
	for {
		n, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(m)), unsafe.Sizeof(*m))
		if e != syscall.EINTR {
			return e == 0 && n == unsafe.Sizeof(*m)
		}
	}
}

// send sends a byte, which is a request, with these control messages.
func send(fd int, rights []byte) bool {
	var request byte
	content := syscall.Iovec{Base: &request}
	content.SetLen(1)
	m := syscall.Msghdr{Iov: &content, Iovlen: 1, Control: unsafe.SliceData(rights)}
	m.SetControllen(len(rights))
	_, _, e := syscall.RawSyscall(syscall.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)), syscall.MSG_NOSIGNAL)
	return e == 0
}

func closeAll(fds []int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = syscall.Close(fd) // they were not written to
		}
	}
}

// OpenPID returns a descriptor that shows the end of a child, or -1.
func OpenPID(pid int) int {
	const pidfdOpen = 434 // its number on every architecture
	fd, _, e := syscall.RawSyscall(pidfdOpen, uintptr(pid), 0, 0)
	if e != 0 {
		return -1
	}
	return int(fd)
}

type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

const pollIn = 1

func poll(fds []pollFD, d time.Duration) error {
	for until := time.Now().Add(d); ; {
		ts := syscall.NsecToTimespec(int64(max(0, time.Until(until))))
		_, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(unsafe.SliceData(fds))), uintptr(len(fds)), uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		switch e {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return e
		}
	}
}
