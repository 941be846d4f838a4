package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Folders in which distributions keep the server's programs outside PATH.
var folders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin"}

// findPrograms returns the folder with initdb and postgres. It prefers PATH, then the newest
// version in the first folder that has any.
func findPrograms(folders []string) (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if bin := filepath.Dir(initdb); hasServer(bin) {
			return bin, nil
		}
	}
	for _, pattern := range folders {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		found = slices.DeleteFunc(found, func(bin string) bool { return !hasServer(bin) })
		if len(found) > 0 {
			return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
		}
	}
	return "", &Missing{
		Reason:  fmt.Sprintf("initdb and postgres are neither in PATH nor in %s", strings.Join(folders, ", ")),
		Install: "apt-get install postgresql",
	}
}

func hasServer(bin string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(bin, program)); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// version returns the first number in a path, so that 9 is older than 15.
func version(path string) int {
	n := 0
	for _, c := range path {
		switch {
		case c >= '0' && c <= '9':
			n = 10*n + int(c-'0')
		case n > 0:
			return n
		}
	}
	return n
}

// serverUser returns the user for the server if this process is root, else nil.
func serverUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if unknown := user.UnknownUserError(""); errors.As(err, &unknown) {
			continue
		}
		if err != nil {
			return nil, err
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and this system has no user postgres or nobody: start muster as another user")
}

// Missing reports why this machine has no server, and the command that installs one.
type Missing struct {
	Reason  string
	Install string // command that installs it on Debian
}

func (m *Missing) Error() string {
	return fmt.Sprintf("no PostgreSQL server: %s; to install it on Debian: %s", m.Reason, m.Install)
}
