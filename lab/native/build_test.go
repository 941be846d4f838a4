package native_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/lab/native"
	"muster/lab/results"
)

// compilerIs puts a shell script in front of the compiler of that name. The script first
// answers the query for the version.
func compilerIs(t *testing.T, name, script string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\ncase $1 in *version) echo 1.0; exit ;; esac\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func ofLanguage(t *testing.T, language string) native.Program {
	t.Helper()
	for _, p := range native.Programs() {
		if p.Language == language {
			return p
		}
	}
	t.Fatalf("nothing in %s", language)
	return native.Program{}
}

// The caller's variables must not change the target system or the target folder.
func TestBuildIsForHere(t *testing.T) {
	for name, value := range map[string]string{"GOOS": "plan9", "GOARCH": "mips", "CARGO_TARGET_DIR": "/elsewhere", "CARGO_BUILD_TARGET": "mips"} {
		t.Setenv(name, value)
	}
	compilerIs(t, "cargo", `mkdir -p target/release; echo "$GOOS,$GOARCH,$CARGO_TARGET_DIR,$CARGO_BUILD_TARGET" >target/release/dispatch`)
	built, err := ofLanguage(t, "Rust").Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if environ, err := os.ReadFile(filepath.Join(built.Dir, "target/release/dispatch")); err != nil || string(environ) != ",,target,\n" {
		t.Errorf("the compiler's environment is %q, %v", environ, err)
	}
}

// A compiler that succeeds without output leaves no build behind.
func TestBuildMakesTheProgram(t *testing.T) {
	compilerIs(t, "cargo", "")
	var none *results.Missing
	if _, err := ofLanguage(t, "Rust").Build(t.Context(), t.TempDir()); !errors.As(err, &none) || !strings.Contains(none.Reason, "made no") {
		t.Errorf("a compiler that makes nothing: %v", err)
	}
}

// An interrupted build ends the compiler's child processes and removes its temporary files.
func TestInterruptedBuild(t *testing.T) {
	dir, pipe := t.TempDir(), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	compilerIs(t, "g++", ": >$TMPDIR/left\nexec >'"+pipe+"' 2>&1\necho begun\nsleep 3600\n")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	gone := make(chan error)
	go func() {
		f, err := os.Open(pipe)
		if err == nil {
			_, err = io.ReadFull(f, make([]byte, 6))
			interrupt()
			_, e := io.Copy(io.Discard, f) // until no process has it open
			err = errors.Join(err, e)
		}
		gone <- err
	}()
	if _, err := ofLanguage(t, "C++").Build(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
	for _, folder := range []string{dir, temporary} {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	}
}
