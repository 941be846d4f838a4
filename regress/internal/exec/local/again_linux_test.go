package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// againKey is set in the environment of a test that runs in another process.
const againKey = "MUSTER_TEST_AGAIN"

// again runs the calling test once more, in a process that change has set up,
// and reports whether that is the one we are in.
func again(t *testing.T, change func(*exec.Cmd)) bool {
	t.Helper()
	if os.Getenv(againKey) == t.Name() {
		return true
	}
	cmd := againCommand(t, t.Name())
	change(cmd)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		needed(t, "a process with such rights does not start: "+err.Error())
	}
	if err != nil {
		t.Errorf("%v\n%s", err, failures(out))
	}
	if strings.Contains(string(out), "--- SKIP") {
		needed(t, string(out))
	}
	return false
}

// failures leaves out of a test's output what went well.
func failures(out []byte) string {
	var kept strings.Builder
	for line := range strings.Lines(string(out)) {
		if first, _, _ := strings.Cut(strings.TrimSpace(line), ":"); first != "--- PASS" && !strings.HasPrefix(first, "=== RUN") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// againCommand runs the test of that name in another process.
func againCommand(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", strings.Join(parts, "/"), "-test.v")
	if testing.Short() {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	cmd.Env = append(os.Environ(), againKey+"="+name)
	return cmd
}

// asRootOfItsOwn starts a process with mounts of its own and the right to
// change them, as root or in a user namespace.
func asRootOfItsOwn(cmd *exec.Cmd) {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Getuid(); uid != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = a
}

// needsNamespaces ends a test where the kernel refuses namespaces.
func needsNamespaces(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/true")
	asRootOfItsOwn(cmd)
	if err := cmd.Run(); err != nil {
		needed(t, "no namespaces here: "+err.Error())
	}
}

// mountOver puts a small file system in memory over a folder, for this process.
func mountOver(t *testing.T, dir, options string, flags uintptr) {
	t.Helper()
	must(t, syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", flags, options))
}

// withNothing leaves the process as it is: a test that needs one of its own.
func withNothing(*exec.Cmd) {}

// asOrdinaryUser starts a process of an ordinary user, from a copy of the program
// that this user can read. It is a user that nothing else runs as: processes are
// counted for all that one does, and what others took would be missing here.
func asOrdinaryUser(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	user := 1<<20 + os.Getpid()
	dir, err := os.MkdirTemp("", "lanes-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chmod(dir, 0o755))
	own := filepath.Join(dir, "tmp")
	must(t, os.Mkdir(own, 0o700))
	must(t, os.Chown(own, user, user))
	return func(cmd *exec.Cmd) {
		program, err := os.ReadFile(cmd.Path)
		must(t, err)
		cmd.Path = filepath.Join(dir, "program")
		copyByPages(t, cmd.Path, program)
		cmd.Args[0] = cmd.Path
		cmd.Dir = "/"
		cmd.Env = append(cmd.Env, "TMPDIR="+own, "HOME="+own)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
	}
}

// copyByPages writes a program that everybody may run. The kernel keeps a file that is written at once in
// large pieces, and maps a piece whole, so a helper from it would be larger by chance.
func copyByPages(t *testing.T, to string, program []byte) {
	t.Helper()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	must(t, err)
	for page := range slices.Chunk(program, os.Getpagesize()) {
		_, err := f.Write(page)
		must(t, err)
	}
	must(t, f.Chmod(0o755))
	must(t, f.Close())
}
