// Package native builds contestants: programs in other languages, and Go programs that
// need modules which muster does not, to measure muster beside. Their sources are part of
// the program; each is compiled when it is first asked for, into a folder of the user's
// cache that is named by a digest of its sources and of how it is built.
//
// What a contestant prints is Go's benchmark format, one line for each result. What the
// flags and the modes are stands in README.md. The package must not run contestants, nor know what
// their figures mean.
package native

import (
	"bytes"
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
)

//go:embed cpp erlang rust java all:_go all:_io all:_db
var sources embed.FS

// A Question is what a contestant answers; its flags and its modes depend on it.
type Question string

const (
	Dispatch Question = "dispatch" // what a task costs that is handed to a pool
	Spawn    Question = "spawn"    // what a call costs in a thread or task of its own
	Call     Question = "call"     // what a call from Go into C costs
	Codec    Question = "codec"    // what messages cost, by themselves and over a socket
	Insert   Question = "insert"   // rows written to a database by many at once
)

// A Program is one that can be built, with one or several contestants in it that answer
// the same question.
type Program struct {
	Name     string // no other program has it
	Question Question
	Language string
	Impls    []string // what it takes after -impl

	folder  string            // of its sources
	renamed map[string]string // files that have another name there than where they are built
	build   []string          // the command, run where its sources are
	run     []string          // the command; a first word with a slash is below that folder
	jdk     int               // the least version of the JDK whose programs these are; 0 = of none
	env     []string          // of the build, beside the caller's
	install string            // what brings what it needs, on Debian
}

// Exit statuses of contestants besides 0, and 2 for a command line that means nothing.
const (
	StatusDeadlock   = 7 // tasks that wait for one another did not end in time
	StatusNoSuchMode = 8 // this contestant has nothing of the kind
	StatusNoMore     = 9 // the system gives no more threads; standard error says how many there were
)

// Missing says why a program could not be built here, and what would help.
type Missing struct {
	Program string
	Reason  string // one line
	Install string // what brings what it needs, on Debian
}

func (m *Missing) Error() string {
	return fmt.Sprintf("%s cannot be built here: %s; on Debian %s brings what it needs", m.Program, m.Reason, m.Install)
}

// buildTimeout bounds one build: cargo and go fetch what they need first.
const buildTimeout = 10 * time.Minute

// Built is a program ready to be run.
type Built struct {
	Program
	Dir      string   // to run it in
	Args     []string // its command, to be followed by flags
	Compiler string   // its command's name
	Version  string   // of the compiler, as it says itself
}

// Build compiles a program below the folder cache, or finds what was compiled before.
// Programs whose sources and build are the same are compiled once. What is missing on this
// machine is a *Missing.
func (p Program) Build(ctx context.Context, cache string) (*Built, error) {
	start, err := p.tool(p.run[0])
	if err != nil {
		return nil, err
	}
	version, err := p.version(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := p.digest(version)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(p.folder, "_") + "-" + digest[:16]
	dir := filepath.Join(cache, name)
	b := &Built{Program: p, Dir: dir, Args: append([]string{start}, p.run[1:]...), Compiler: p.build[0], Version: version}
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
	if err := p.layOut(temp); err != nil {
		return nil, err
	}
	if err := p.compile(ctx, temp); err != nil {
		return nil, err
	}
	// Another process may have been faster: then it is the same.
	if err := os.Rename(temp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, e := os.Stat(dir); e != nil {
			return nil, fmt.Errorf("cache for contestants: %w", err)
		}
	}
	return b, nil
}

func (p Program) missing(reason string) error { return &Missing{p.Name, reason, p.install} }

// tool is where the first word of one of the program's commands is.
func (p Program) tool(name string) (string, error) {
	switch {
	case strings.HasPrefix(name, "./"):
		return name, nil
	case p.jdk > 0:
		home, err := findJDK(p.jdk)
		if err != nil {
			return "", p.missing(err.Error())
		}
		return filepath.Join(home, "bin", name), nil
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", p.missing("no " + name + " in PATH")
	}
	return found, nil
}

// each calls do for all of its sources, by the name that they have where it is built.
func (p Program) each(do func(name string, text []byte) error) error {
	return fs.WalkDir(sources, p.folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(file, p.folder+"/")
		if other, ok := p.renamed[name]; ok {
			name = other
		}
		return do(name, text)
	})
}

// versionTimeout bounds how long a compiler may take to say its version.
const versionTimeout = 30 * time.Second

// version is what the compiler says of itself: another one compiles anew.
func (p Program) version(ctx context.Context) (string, error) {
	words := []string{p.build[0], "--version"}
	switch p.build[0] {
	case "go":
		words[1] = "version"
	case "erlc": // which does not say
		words = []string{"erl", "-noshell", "-noinput", "-eval", `io:format("Erlang/OTP ~s", [erlang:system_info(otp_release)]), halt().`}
	}
	compiler, err := p.tool(p.build[0])
	if err != nil {
		return "", err
	}
	if words[0] != p.build[0] {
		if compiler, err = p.tool(words[0]); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, compiler, words[1:]...)
	c.Dir = os.TempDir() // a module file of the caller's may ask for another version
	c.Env = append(os.Environ(), "GOTOOLCHAIN=local")
	c.WaitDelay = time.Second
	said, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("version of %s: %w", p.build[0], ctx.Err())
	}
	if err != nil {
		return "", p.missing(p.build[0] + " does not start: " + firstLine(said, err))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return first, nil
}

func (p Program) digest(version string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", p.build, p.env, version)
	err := p.each(func(name string, text []byte) error {
		fmt.Fprintf(h, "%q %d\n", name, len(text))
		_, err := h.Write(text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

func (p Program) layOut(dir string) error {
	return p.each(func(name string, text []byte) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}

func (p Program) compile(ctx context.Context, dir string) error {
	compiler, err := p.tool(p.build[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	temp, err := os.MkdirTemp(dir, "temporary-") // what is killed leaves its files
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	c := exec.CommandContext(ctx, compiler, p.build[1:]...)
	c.Dir = dir
	// A workspace or a vendor folder of the caller's is none of this program's.
	// What is built for another system cannot be run, and what cargo puts elsewhere is not found.
	c.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOOS=", "GOARCH=", "CARGO_TARGET_DIR=target", "TMPDIR="+temp), p.env...)
	c.Env = slices.DeleteFunc(c.Env, func(pair string) bool { return strings.HasPrefix(pair, "CARGO_BUILD_TARGET=") })
	// A compiler starts others, which are to end with it, before their folder goes.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	said, err := c.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("build %s: %w", p.Name, ctx.Err())
	case err != nil:
		return p.missing(firstLine(said, err))
	}
	if strings.HasPrefix(p.run[0], "./") {
		if _, err := os.Stat(filepath.Join(dir, p.run[0])); err != nil {
			return p.missing(p.build[0] + " made no " + p.run[0])
		}
	}
	return nil
}

// firstLine is what of a compiler's output tells most: the first line with an error.
func firstLine(said []byte, err error) string {
	first := ""
	for line := range bytes.Lines(said) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "# ") {
			continue // Go's name of the package, whose errors follow
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
