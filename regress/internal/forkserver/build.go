// Package forkserver runs cases as forks of a command that has started already. The lanes do the
// work, with the library in folder shim. README.md has the design.
//
// Input: the executor of the lanes, and a function that knows the outcomes of a golden. Output: an
// executor that runs some cases both ways first (Executor), and the library (Build). The package must
// not give a verdict.
package forkserver

import (
	"context"
	"crypto/sha256"
	_ "embed" // the source of the shim
	"encoding/hex"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"muster/internal/wording"
	"muster/regress/internal/exec"
)

//go:embed shim/shim.c
var shimSource []byte

// flags of the compiler. The shim must not need a library.
func flags() []string {
	return []string{"-std=gnu11", "-O2", "-shared", "-fPIC", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-ffreestanding", "-nostdlib", "-Wl,-z,defs", "-x", "c"}
}

// buildTimeout bounds the compiler, which takes less than a second.
const buildTimeout = time.Minute

// Build compiles the shim into the folder cache, or finds an earlier build. The error is a
// *exec.NoServer if this machine cannot have fork servers.
func Build(ctx context.Context, cache string) (file string, err error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", &exec.NoServer{Why: "only Linux on x86-64 has fork servers"}
	}
	dir, err := filepath.Abs(filepath.Join(cache, "fork-server"))
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(dir, ":$") {
		return "", &exec.NoServer{Why: "the path of the cache, " + dir + ", has a colon or a dollar sign, which the dynamic linker does not take"}
	}
	digest := sha256.Sum256([]byte(strings.Join(flags(), " ") + "\n" + string(shimSource)))
	file = filepath.Join(dir, hex.EncodeToString(digest[:8])+".so")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := compile(ctx, file); err != nil {
		return "", err
	}
	return file, nil
}

// compile makes the file. The error is a *exec.NoServer.
func compile(ctx context.Context, file string) error {
	compiler, err := osexec.LookPath("cc")
	if err != nil {
		return &exec.NoServer{Why: "no C compiler is installed (cc)"}
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &exec.NoServer{Why: notWritten + wording.Of(err)}
	}
	temp, err := os.MkdirTemp(dir, "building-")
	if err != nil {
		return &exec.NoServer{Why: notWritten + wording.Of(err)}
	}
	defer func() { _ = os.RemoveAll(temp) }() // what is left is only garbage
	built := filepath.Join(temp, "shim.so")
	ctx, end := context.WithTimeout(ctx, buildTimeout)
	defer end()
	cmd := osexec.CommandContext(ctx, compiler, append(flags(), "-o", built, "-")...)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(string(shimSource)), time.Second
	out, err := cmd.CombinedOutput()
	if first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n"); err != nil && first != "" {
		return &exec.NoServer{Why: "the C compiler fails: " + first}
	}
	if err != nil {
		return &exec.NoServer{Why: "the C compiler fails (" + err.Error() + ")"}
	}
	if _, err := os.Stat(built); err != nil {
		return &exec.NoServer{Why: "the C compiler (" + compiler + ") makes nothing"}
	}
	if err := os.Rename(built, file); err != nil {
		return &exec.NoServer{Why: notWritten + wording.Of(err)}
	}
	return nil
}

// notWritten begins the reason that names a fault of the cache.
const notWritten = "its library cannot be written: "
