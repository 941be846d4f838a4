//go:build (amd64 || arm64) && !purego

package observe

import (
	"errors"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"muster/regress/lane/scan"
)

// instruction is struct sock_filter of the kernel's packet filter.
type instruction struct {
	code uint16
	jt   uint8 // instructions to skip if the condition holds
	_    uint8 // otherwise: none, in this program
	k    uint32
}

// program is struct sock_fprog: a filter as seccomp(2) takes it.
type program struct {
	length uint16
	first  *instruction
}

// These are codes of instructions (linux/bpf_common.h), and results (linux/seccomp.h).
const (
	load          = 0x20 // BPF_LD | BPF_W | BPF_ABS
	jumpEqual     = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	jumpAtLeast   = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	jumpAnySet    = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	finish        = 0x06 // BPF_RET | BPF_K
	resultAllow   = 0x7fff0000
	resultNotify  = 0x7fc00000
	resultNoCall  = 0x00050000 | uint32(syscall.ENOSYS)
	offsetNumber  = 0 // of struct seccomp_data
	offsetArch    = 4
	offsetArgs    = 16
	foreignNumber = 0x40000000 // numbers of x32 begin here
)

// sysIOUringSetup is the same number on all architectures.
const sysIOUringSetup = 425

// compile writes the filter. It stops the calls that name files, and all calls of another
// architecture. Calls that would hide file operations from the filter fail as on an old kernel.
// The helper's own execve of the command passes: its path is at that address.
func compile(executable uintptr) []instruction {
	const stop, allow, refuse = 0, 1, 2 // results, below
	var list []instruction
	type jump struct{ at, to int }
	var jumps []jump // whose true branch goes to a result
	to := func(code uint16, k uint32, result int) {
		jumps = append(jumps, jump{len(list), result})
		list = append(list, instruction{code: code, k: k})
	}
	list = append(list, instruction{code: load, k: offsetArch}, instruction{code: jumpEqual, jt: 1, k: auditArch})
	to(jumpAtLeast, 0, stop) // always
	list = append(list, instruction{code: load, k: offsetNumber})
	to(jumpAtLeast, foreignNumber, stop)
	to(jumpEqual, sysIOUringSetup, refuse)
	for i, s := range shapes {
		isRepeated := i > 0 && shapes[i-1].number == s.number
		if s.number >= 0 && s.number != syscall.SYS_EXECVE && !isRepeated {
			to(jumpEqual, uint32(s.number), stop)
		}
	}
	list = append(list, instruction{code: jumpEqual, jt: 1, k: syscall.SYS_EXECVE})
	to(jumpAtLeast, 0, allow)
	for i, half := range []uint32{uint32(executable), uint32(executable >> 32)} {
		list = append(list, instruction{code: load, k: offsetArgs + 4*uint32(i)}, instruction{code: jumpEqual, jt: 1, k: half})
		to(jumpAtLeast, 0, stop)
	}
	results := [...]instruction{{code: finish, k: resultNotify}, {code: finish, k: resultAllow}, {code: finish, k: resultNoCall}}
	list = append(list, instruction{code: finish, k: resultAllow})
	base := len(list)
	list = append(list, results[:]...)
	for _, j := range jumps {
		list[j.at].jt = uint8(base + j.to - j.at - 1)
	}
	return list
}

// address is the address of a connect(2). At most one field is set.
type address struct {
	path   string // of a socket in the file system, as the process spelled it
	shared string // for people: a place in the network, or in its list of names
}

// parseAddress reads a struct sockaddr. Addresses of the kernel are empty.
func parseAddress(b []byte) address {
	if len(b) < 2 {
		return address{}
	}
	switch int(b[0]) | int(b[1])<<8 {
	case syscall.AF_UNIX:
		name := b[2:]
		if len(name) > 1 && name[0] == 0 {
			return address{shared: "socket @" + scan.Valid(string(name[1:]))}
		}
		text, _, _ := scan.Cut(name, 0)
		return address{path: string(text)}
	case syscall.AF_INET, syscall.AF_INET6:
		if len(b) >= 4 {
			return address{shared: "an internet address, port " + strconv.Itoa(int(b[2])<<8|int(b[3]))}
		}
	}
	return address{}
}

const pageBytes = 4096

// vector is struct iovec.
type vector struct {
	base   uintptr
	length uintptr
}

// pages is memory for a text of another process.
type pages [2 * pageBytes]byte

// readString reads a text that ends with a zero byte from the memory of a process.
func (b *pages) readString(pid uint32, address uint64) (string, error) {
	// The text may end just before a page that is not mapped, so each page is read by itself.
	first := pageBytes - address%pageBytes
	n, err := copyFrom(pid, b[:first+pageBytes], []vector{{uintptr(address), uintptr(first)}, {uintptr(address + first), pageBytes}})
	if err != nil {
		return "", err
	}
	text, _, ended := scan.Cut(b[:n], 0)
	if !ended {
		return "", syscall.ENAMETOOLONG
	}
	return string(text), nil
}

// readFrom reads bytes from the memory of a process.
func readFrom(pid uint32, address uint64, into []byte) error {
	n, err := copyFrom(pid, into, []vector{{uintptr(address), uintptr(len(into))}})
	if err == nil && n < len(into) {
		err = syscall.EFAULT
	}
	return err
}

func wordAt(b []byte, at int) uint64 { return *(*uint64)(unsafe.Pointer(&b[at])) }

func copyFrom(pid uint32, into []byte, remote []vector) (n int, err error) {
	local := struct { // struct iovec, with an address that the garbage collector knows
		base   *byte
		length uintptr
	}{unsafe.SliceData(into), uintptr(len(into))}
	r, _, e := syscall.RawSyscall6(sysProcessVMReadv, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(unsafe.SliceData(remote))), uintptr(len(remote)), 0)
	if e != 0 {
		return 0, e
	}
	return int(r), nil
}

// errUnseen says that the kernel cannot spell the path of a folder or file for the helper.
var errUnseen = errors.New("no path")

// folderOf returns the folder in which a relative path of a process begins: that of a descriptor,
// or its working folder. It returns ESTALE if that is removed.
func folderOf(pid uint32, descriptor int32) (string, error) {
	name := "/proc/" + strconv.Itoa(int(pid))
	if descriptor == atCwd {
		name += "/cwd"
	} else {
		name += "/fd/" + strconv.Itoa(int(descriptor))
	}
	folder, err := readLink(name)
	switch {
	case err == syscall.ENAMETOOLONG, scan.HasPrefix(folder, "(unreachable)"):
		return "", errUnseen
	case err == nil && !scan.HasPrefix(folder, "/"):
		return "", syscall.ENOTDIR // a pipe or a socket
	case scan.HasSuffix(folder, " (deleted)"):
		var st syscall.Stat_t
		if syscall.Stat(name, &st) != nil || st.Nlink == 0 {
			return "", syscall.ESTALE
		}
	}
	return folder, err
}

func readLink(name string) (string, error) {
	var buf [pageBytes]byte
	n, err := syscall.Readlink(name, buf[:])
	if err == nil && n == len(buf) {
		err = syscall.ENAMETOOLONG
	}
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// absolute returns a path of a process from the root. An empty path is the folder itself.
func absolute(pid uint32, folder int32, path string) (string, error) {
	if scan.HasPrefix(path, "/") {
		return clean(path), nil
	}
	base, err := folderOf(pid, folder)
	if err != nil {
		return "", err
	}
	return clean(base + "/" + path), nil
}

// clean removes empty and "." parts of a path. It keeps "..", which may follow a link.
func clean(path string) string {
	if !scan.Contains(path, "//") && !scan.Contains(path, "/.") && !scan.HasSuffix(path, "/") {
		return path
	}
	return rebuild(path, false)
}

// withoutDots also removes "..", as if no part were a link.
func withoutDots(path string) string {
	if !scan.Contains(path, "/..") {
		return path
	}
	return rebuild(path, true)
}

func rebuild(path string, dots bool) string {
	kept := []byte{}
	for part := range scan.Split(path, '/') {
		switch {
		case part == "" || part == ".":
		case part == ".." && dots:
			kept = kept[:max(0, scan.LastIndex(kept, '/'))]
		default:
			kept = append(append(kept, '/'), part...)
		}
	}
	if len(kept) == 0 {
		return "/"
	}
	return string(kept)
}

// throughProc returns a path without a first part in /proc that leads to a folder or file of a
// process: its root, its working folder or a descriptor.
func throughProc(pid uint32, path string) string {
	rest, ok := scan.CutPrefix(path, "/dev/fd/")
	if ok {
		rest = "self/fd/" + rest
	} else if rest, ok = scan.CutPrefix(path, "/proc/"); !ok {
		return path
	}
	who, rest, _ := scan.Cut(rest, '/')
	if who == "self" || who == "thread-self" {
		who = strconv.Itoa(int(pid))
	}
	if below, ok := scan.CutPrefix(rest, "task/"); ok {
		who, rest, _ = scan.Cut(below, '/')
	}
	what, rest, _ := scan.Cut(rest, '/')
	if what == "root" {
		return clean("/" + rest)
	}
	if what == "fd" {
		var descriptor string
		descriptor, rest, _ = scan.Cut(rest, '/')
		what += "/" + descriptor
	} else if what != "cwd" {
		return path
	}
	to, err := readLink("/proc/" + who + "/" + what)
	if err != nil || !scan.HasPrefix(to, "/") || scan.HasSuffix(to, " (deleted)") {
		return path
	}
	return clean(to + "/" + rest)
}

const linksMax = 40 // of one path, as in the kernel

// folders are those of the case itself.
type folders struct {
	inside []string // without links
	tmp    string   // that of them which is the lane's own /tmp, or ""
	shown  []string // paths below tmp that lead to the machine's /tmp
}

// leave returns the path to which links lead from a path below the folders inside, or "" if they
// stay there. It returns other paths as they are. It looks only at what is below those folders: a
// file system elsewhere might not answer. The last part is followed if it is a link and last says so.
// absent is where links lead inside, if nothing is there or last is false.
func (f *folders) leave(path string, last bool) (to, absent string) {
	for range linksMax {
		folder := f.around(path)
		if folder == "" {
			return path, ""
		}
		if path, absent = f.follow(folder, path[len(folder):], last); path == "" {
			return "", absent
		}
	}
	return "", "" // the call fails too
}

// isOutside reports whether a path without links is not one of the case.
func (f *folders) isOutside(path string) bool {
	to, _ := f.leave(path, true)
	return to != ""
}

// around returns the innermost of the folders inside that holds a path, or "" for a path outside.
func (f *folders) around(path string) (folder string) {
	for _, in := range f.inside {
		if isBelow(path, in) && len(in) > len(folder) {
			folder = in
		}
	}
	if folder == f.tmp && f.isShown(withoutDots(path)) {
		return ""
	}
	return folder
}

// miss returns the use of a path in the lane's own /tmp at which nothing is.
func (f *folders) miss(path string, kind Kind) []Access {
	if path == "" || f.tmp == "" || f.around(path) != f.tmp {
		return nil
	}
	if _, err := readLink(path); err != syscall.ENOENT {
		return nil
	}
	return []Access{{Path: path, Kind: kind | missed}}
}

// isShown reports whether the machine has what the lane's own /tmp shows at a path.
func (f *folders) isShown(path string) bool {
	return slices.ContainsFunc(f.shown, func(shown string) bool { return isBelow(path, shown) })
}

// follow returns the path where a link, or "..", first leads out of a folder, or an absolute link
// leads anywhere. It returns "" if none does, and the absent path to which they lead, if it is absent or last is false.
func (f *folders) follow(folder, rest string, last bool) (to, absent string) {
	at := folder
	for links := 0; rest != "" && links < linksMax; {
		var part string
		part, rest, _ = scan.Cut(rest, '/')
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && at == folder:
			return clean(folder[:scan.LastIndex(folder, '/')] + "/" + rest), ""
		case part == "..":
			at = at[:scan.LastIndex(at, '/')]
			continue
		case rest == "" && !last:
			return "", at + "/" + part
		}
		next, whole := at+"/"+part, clean(at+"/"+part+"/"+rest)
		if f.isShown(next) && f.isShown(withoutDots(whole)) {
			return whole, ""
		}
		target, err := readLink(next)
		switch {
		case err == syscall.EINVAL: // no link
			at = next
			continue
		case err == syscall.ENOENT:
			return "", whole
		case err != nil:
			return "", "" // the call fails
		case scan.HasPrefix(target, "/"):
			return clean(target + "/" + rest), ""
		}
		links++
		rest = target + "/" + rest
	}
	return "", ""
}
