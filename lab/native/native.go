// Package native builds contestants for comparison with muster: programs in other languages,
// and Go programs that need modules which muster does not use. Their sources are embedded.
// Each program is compiled at its first use into a folder of the user's cache. The folder's
// name is a digest of the sources and the build command.
//
// Contestants print Go's benchmark format, one line per result. README.md explains their flags
// and modes. The package must not run contestants or interpret their figures.
package native

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/lab/results"
)

//go:embed cpp erlang rust java all:_go all:_call all:_db contest
var sources embed.FS

// A Question is the subject of a contestant's measurement. Flags and modes depend on it.
type Question string

const (
	Dispatch Question = "dispatch" // cost of a task on a pool
	Spawn    Question = "spawn"    // cost of a call in a thread or task of its own
	Call     Question = "call"     // cost of a call from Go into C
	Insert   Question = "insert"   // rows that many goroutines write to a database at once
)

// A Program is a program that can be built. It contains one or more contestants for the same
// question.
type Program struct {
	Name     string // unique
	Question Question
	Language string
	Impls    []string // values of its flag -impl

	folder  string            // folder of its sources
	shared  string            // a package that it shares with muster; "" = none
	renamed map[string]string // sources whose names differ from those in the build
	build   []string          // build command, run in the build folder
	version []string          // command that prints the compiler's version; nil = with --version
	run     []string          // run command; a first word with a slash is relative to the build folder
	jdk     int               // least version of the JDK that provides the commands; 0 = not a Java program
	env     []string          // environment of the build, beside the caller's
	install string            // command that installs its compiler on Debian
}

// Exit statuses of contestants besides 0. Status 2 is an invalid command line.
const (
	StatusDeadlock   = 7 // tasks that wait for one another did not end in time
	StatusNoSuchMode = 8 // this contestant lacks the mode
	StatusNoMore     = 9 // the system refuses more threads; standard error reports how many existed
)

// buildTimeout bounds one build, including downloads by cargo and go.
const buildTimeout = 10 * time.Minute

// An Executable is a program that is ready to run.
type Executable struct {
	Program
	Dir      string   // working folder
	Args     []string // command, to be followed by flags
	Compiler string   // name of its command
	Version  string   // of the compiler, as it reports it
}

// Build compiles a program into the folder cache, or finds an earlier build. Programs with
// equal sources and build commands share a build. If this machine lacks a tool, the error is a
// *results.Missing.
func (p Program) Build(ctx context.Context, cache string) (*Executable, error) {
	if cache == "" {
		return nil, &results.Missing{Peer: p.Name, Reason: "no cache folder for compiled contestants: set HOME or XDG_CACHE_HOME"}
	}
	start, err := p.findTool(p.run[0])
	if err != nil {
		return nil, err
	}
	version, err := p.compilerVersion(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := p.digest(version)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(p.folder, "_") + "-" + digest[:16]
	dir := filepath.Join(cache, name)
	b := &Executable{Program: p, Dir: dir, Args: append([]string{start}, p.run[1:]...), Compiler: p.build[0], Version: version}
	if _, err := os.Stat(dir); err == nil {
		return b, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("cache for contestants: %w", err)
	}
	temp, err := os.MkdirTemp(cache, name+"-building-")
	if err != nil {
		return nil, fmt.Errorf("cache for contestants: %w", err)
	}
	defer os.RemoveAll(temp)
	if err := p.writeSources(temp); err != nil {
		return nil, err
	}
	if err := p.compile(ctx, temp); err != nil {
		return nil, err
	}
	// If another process was faster, its build is the same.
	if err := os.Rename(temp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, e := os.Stat(dir); e != nil {
			return nil, fmt.Errorf("cache for contestants: %w", err)
		}
	}
	return b, nil
}

func (p Program) newMissing(reason string) error {
	return &results.Missing{Peer: p.Name, Reason: reason, Install: p.install}
}

// findTool returns the path of a command's first word.
func (p Program) findTool(name string) (string, error) {
	switch {
	case strings.HasPrefix(name, "./"):
		return name, nil
	case p.jdk > 0:
		home, err := findJDK(p.jdk)
		if err != nil {
			return "", p.newMissing(err.Error())
		}
		return filepath.Join(home, "bin", name), nil
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", p.newMissing("no " + name + " in PATH")
	}
	return found, nil
}

// eachSource calls do for all sources, with their names in the build folder.
func (p Program) eachSource(do func(name string, text []byte) error) error {
	each := func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(file, p.folder+"/")
		return do(cmp.Or(p.renamed[name], name), text)
	}
	err := fs.WalkDir(sources, p.folder, each)
	if err == nil && p.shared != "" {
		err = fs.WalkDir(sources, p.shared, each)
	}
	return err
}

// versionTimeout bounds the query of a compiler's version.
const versionTimeout = 30 * time.Second

// compilerVersion returns the version that the compiler reports. It is part of the digest, so
// another version compiles again.
func (p Program) compilerVersion(ctx context.Context) (string, error) {
	if _, err := p.findTool(p.build[0]); err != nil {
		return "", err
	}
	words := p.version
	if words == nil {
		words = []string{p.build[0], "--version"}
	}
	compiler, err := p.findTool(words[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, compiler, words[1:]...)
	c.Dir = os.TempDir() // a go.mod in the caller's folder may select another version
	c.Env = append(os.Environ(), "GOTOOLCHAIN=local")
	c.WaitDelay = time.Second
	output, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("version of %s: %w", p.build[0], ctx.Err())
	}
	if err != nil {
		return "", p.newMissing(p.build[0] + " does not start: " + errorLine(output, err))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	return first, nil
}

func (p Program) digest(version string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", p.build, p.env, version)
	err := p.eachSource(func(name string, text []byte) error {
		fmt.Fprintf(h, "%q %d\n", name, len(text))
		_, err := h.Write(text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

func (p Program) writeSources(dir string) error {
	return p.eachSource(func(name string, text []byte) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}

func (p Program) compile(ctx context.Context, dir string) error {
	compiler, err := p.findTool(p.build[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	temp, err := os.MkdirTemp(dir, "temporary-") // a killed compiler leaves temporary files
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	c := exec.CommandContext(ctx, compiler, p.build[1:]...)
	c.Dir = dir
	// The caller's workspace and vendor folder do not apply here. A binary for another system
	// would not run, and cargo must not use another target folder.
	c.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOOS=", "GOARCH=", "CARGO_TARGET_DIR=target", "TMPDIR="+temp), p.env...)
	c.Env = slices.DeleteFunc(c.Env, func(pair string) bool { return strings.HasPrefix(pair, "CARGO_BUILD_TARGET=") })
	// A compiler starts child processes. They must end with it, before the folder is removed.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	output, err := c.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("build %s: %w", p.Name, ctx.Err())
	case err != nil:
		return p.newMissing(errorLine(output, err))
	}
	if strings.HasPrefix(p.run[0], "./") {
		if _, err := os.Stat(filepath.Join(dir, p.run[0])); err != nil {
			return p.newMissing(p.build[0] + " made no " + p.run[0])
		}
	}
	return nil
}

// errorLine returns the most useful line of a compiler's output: the first line with an error.
func errorLine(output []byte, err error) string {
	first := ""
	for line := range bytes.Lines(output) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "# ") {
			continue // Go prints the package's name before its errors
		}
		if strings.Contains(text, "error") {
			return text
		}
		if first == "" {
			first = text
		}
	}
	if first == "" {
		return err.Error()
	}
	return first
}
