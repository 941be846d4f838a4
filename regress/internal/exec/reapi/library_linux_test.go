package reapi_test

import (
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/test/kits/reapitest"
)

// What a bundle's libraries are looked for in first is what cases get: LD_LIBRARY_PATH, of
// which the last one counts.
func TestLibrariesByTheEnvironment(t *testing.T) {
	program, libraries := needsLibrary(t)
	c, err := exec.Resolve([]string{program}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	start := func(env ...string) error {
		_, err := newWorker(t, reapitest.Options{}).start(func(o *reapi.Options) {
			o.Commands, o.Bundle, o.Setting.Env = []*exec.Command{c}, true, env
		})
		return err
	}
	if err := start("LD_LIBRARY_PATH=/none", "A=b", "LD_LIBRARY_PATH=.:/none:"+libraries); err != nil {
		t.Error(err)
	}
	for _, env := range [][]string{nil, {"LD_LIBRARY_PATH=" + libraries, "LD_LIBRARY_PATH=/none"}} {
		if err := start(env...); regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "libseven.so") {
			t.Errorf("with %q: %v", env, err)
		}
	}
}

// needsLibrary makes a program that needs a library which lies in another folder.
func needsLibrary(t *testing.T) (program, libraries string) {
	t.Helper()
	cc, err := osexec.LookPath("gcc")
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	libraries = filepath.Join(dir, "libraries")
	at := func(file string) string { return filepath.Join(dir, file) }
	if err := errors.Join(
		os.Mkdir(libraries, 0o755),
		os.WriteFile(at("seven.c"), []byte("int seven(void) { return 7; }\n"), 0o644),
		os.WriteFile(at("main.c"), []byte("int seven(void); int main(void) { return seven(); }\n"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-shared", "-fPIC", "seven.c", "-o", "libraries/libseven.so"},
		{"main.c", "-o", "program", "-Llibraries", "-lseven"},
	} {
		cmd := osexec.CommandContext(t.Context(), cc, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return at("program"), libraries
}
