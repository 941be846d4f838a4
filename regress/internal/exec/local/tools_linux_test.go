package local

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tools are commands for cases that no shell has.
var tools = map[string]func(args []string) error{
	"list":     listTool,
	"mmap":     mmapTool,
	"burn":     burnTool,
	"allocate": allocateTool,
	"append":   appendTool,
	"lock":     lockTool,
	"deep":     deepTool,
	"socket":   socketTool,
	"attach":   attachTool,
	"many":     manyTool,
	"signals":  signalsTool,
	"unable":   unableTool,
	"flag":     flagTool,
	"refusing": refusingTool,
	"flags":    flagsTool,
	"deaf":     deafTool,
	"mute":     muteTool,
	"sysv":     sysvTool,
	"zombies":  zombiesTool,
	"streams":  streamsTool,
	"threads":  threadsTool,
	"traced":   tracedTool,

	"capabilities": capabilitiesTool,
}

// self is the command line of a tool, for use in a shell's script.
func self(words ...string) string {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return program + " tool " + strings.Join(words, " ")
}

// listTool prints all that is below a folder, with everything that could differ.
func listTool(args []string) error {
	return filepath.WalkDir(args[0], func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		line, err := describe(path)
		rel, _ := filepath.Rel(args[0], path)
		fmt.Printf("%q %s\n", rel, line)
		return err
	})
}

func describe(path string) (string, error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return "", err
	}
	line := fmt.Sprintf("%o", st.Mode)
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		line += fmt.Sprintf(" %d links %x", st.Nlink, sha256.Sum256(content))
	case syscall.S_IFLNK:
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		return line + " " + target, nil
	}
	buf := make([]byte, 1024)
	n, err := syscall.Listxattr(path, buf)
	if err != nil && !errors.Is(err, syscall.ENOTSUP) {
		return "", err
	}
	return line + fmt.Sprintf(" %q", buf[:max(0, n)]), nil
}

// mmapTool changes the first byte of a file through a mapping.
func mmapTool(args []string) error {
	f, err := os.OpenFile(args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	m[0] = 'M'
	return nil // unmapped by the end of the process
}

// burnTool takes a number of milliseconds of CPU.
func burnTool(args []string) error {
	ms, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var u syscall.Rusage
	for u.Utime.Nano()+u.Stime.Nano() < int64(ms)*int64(time.Millisecond) {
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return err
		}
	}
	return nil
}

// allocateTool holds a number of MiB, then ends, or waits to be killed.
func allocateTool(args []string) error {
	mib, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	m, err := touched(mib)
	if err != nil {
		return err
	}
	for len(args) > 1 {
		_ = unix.Pause() // a signal ended it
	}
	return syscall.Munmap(m)
}

// touched returns memory that is really there.
func touched(mib int) ([]byte, error) {
	m, err := syscall.Mmap(-1, 0, mib<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
	return m, err
}

// appendTool takes O_APPEND from its standard output, and writes nothing.
func appendTool([]string) error {
	if _, err := unix.Seek(1, 100, 0); err != nil {
		return err
	}
	_, err := unix.FcntlInt(1, unix.F_SETFL, 0)
	return err
}

// lockTool locks its standard output, as it is or opened anew.
func lockTool(args []string) error {
	fd := 1
	if len(args) > 0 {
		f, err := os.OpenFile("/dev/stdout", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		fd = int(f.Fd())
	}
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
}

// deepTool makes folders in folders, deeper than any path reaches.
func deepTool(args []string) error {
	depth, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for range depth {
		if err := os.Mkdir("deep", 0o755); err != nil {
			return err
		}
		if err := os.Chdir("deep"); err != nil {
			return err
		}
	}
	return os.WriteFile("bottom", []byte("x"), 0o644)
}

func socketTool(args []string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Bind(fd, &unix.SockaddrUnix{Name: args[0]})
}

// attachTool gives files and folders an attribute that a listing shows. In a tmpfs that needs Linux 6.6.
func attachTool(args []string) error {
	for _, path := range args {
		if err := unix.Setxattr(path, "user.test", []byte("1"), 0); err != nil && !errors.Is(err, syscall.ENOTSUP) {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// manyTool makes a number of files of a size.
func manyTool(args []string) error {
	files, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	content := make([]byte, size)
	for i := range files {
		if err := os.WriteFile(fmt.Sprintf("many%05d", i), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// signalsTool sends every signal to all processes that it may send to. Outside
// a PID namespace that would be the end of the machine.
func signalsTool([]string) error {
	if os.Getppid() != 1 {
		return errors.New("not the child of a namespace's init")
	}
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		_ = syscall.Kill(-1, sig) // to all but ourselves
		_ = syscall.Kill(1, sig)
	}
	return nil
}

// unableTool starts a command that cannot get the capability to mount.
func unableTool(args []string) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// tracedTool asks its parent to trace it, and stops for a signal that does nothing. Then it asks again, and
// starts a command, for which it stops once more.
func tracedTool(args []string) error {
	runtime.LockOSThread()
	for _, then := range []func() error{
		func() error { return unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGURG) },
		func() error { return syscall.Exec(args[0], args, os.Environ()) },
	} {
		if _, _, e := syscall.RawSyscall(syscall.SYS_PTRACE, syscall.PTRACE_TRACEME, 0, 0); e != 0 {
			return e
		}
		if err := then(); err != nil {
			return err
		}
	}
	return nil
}

// deafTool starts a command with every signal ignored and blocked.
func deafTool(args []string) error {
	runtime.LockOSThread()
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		signal.Ignore(sig)
	}
	var all unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, nil); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// flagTool sets flags (a number) of files.
func flagTool(args []string) error {
	flags, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for _, path := range args[1:] {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
		f.Close()
		if err != nil {
			return fmt.Errorf("set flags of %s: %w", path, err)
		}
	}
	return nil
}

// flagsTool prints the flags of a file that anybody may set, and its links.
func flagsTool(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil && !errors.Is(err, unix.ENOTTY) {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	const extents = 0x80000 // FS_EXTENT_FL, which ext4 sets itself
	fmt.Println(flags&^extents, st.Nlink)
	return nil
}

// capabilitiesTool prints the numbers of those that this process may get.
func capabilitiesTool([]string) error {
	for c := range uintptr(64) {
		if have, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err == nil && have == 1 {
			fmt.Println(c)
		}
	}
	return nil
}
