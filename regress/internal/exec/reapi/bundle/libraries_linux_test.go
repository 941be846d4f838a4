package bundle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec/reapi/bundle"
)

// A library that lies beside its program travels, found by $ORIGIN, and so does what that
// library needs in turn: by its own list, or, in the old form of it, by the program's.
func TestLibrariesBesideTheProgram(t *testing.T) {
	for name, flags := range map[string]struct{ compiler, library, program string }{
		"RUNPATH": {"gcc", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath,$ORIGIN"},
		"RPATH":   {"gcc", "-Wl,-z,defs", "-Wl,--disable-new-dtags,-rpath,$ORIGIN"},
		"musl":    {"musl-gcc", "-Wl,-z,defs", "-Wl,-rpath,$ORIGIN"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := linked(t, flags.compiler, flags.library, flags.program)
			program := filepath.Join(dir, "program")
			b := made(t, bundle.Options{Command: command(t, program), Bundle: true})
			if out, _ := ran(t, b, map[string]string{"a": ""}, program); out != "7\n" {
				t.Errorf("%q", out)
			}
			if err := os.Remove(filepath.Join(dir, "libinner.so")); err != nil {
				t.Fatal(err)
			}
			_, err := bundle.Make(t.Context(), bundle.Options{Command: command(t, program), Bundle: true})
			if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "the library libinner.so is not found") {
				t.Errorf("%v", err)
			}
		})
	}
}

// linked makes a program that needs a library that needs another.
func linked(t *testing.T, compiler, library, program string) (dir string) {
	t.Helper()
	cc := need(t, compiler)
	dir = t.TempDir()
	for name, text := range map[string]string{
		"inner.c": "int inner(void) { return 7; }\n",
		"outer.c": "int inner(void); int outer(void) { return inner(); }\n",
		"main.c":  "#include <stdio.h>\nint outer(void); int main(void) { printf(\"%d\\n\", outer()); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-shared", "-fPIC", "inner.c", "-o", "libinner.so"},
		{"-shared", "-fPIC", "outer.c", "-o", "libouter.so", "-L.", "-linner", library},
		{"main.c", "-o", "program", "-L.", "-louter", program, "-Wl,-rpath-link,."},
	} {
		cmd := exec.CommandContext(t.Context(), cc, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}
