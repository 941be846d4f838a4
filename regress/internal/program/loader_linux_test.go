package program_test

import (
	"debug/elf"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/program"
)

func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := osexec.LookPath(tool)
	if err == nil {
		return path
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// linked makes a program that needs libone.so, which lies beside it.
func linked(t *testing.T, compiler string) (file, loader string) {
	t.Helper()
	compiler = need(t, compiler)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one.c"), "int one(void) { return 1; }\n")
	write(t, filepath.Join(dir, "main.c"), "int one(void); int main(void) { return one(); }\n")
	for _, args := range [][]string{
		{"-shared", "-fPIC", "one.c", "-o", "libone.so"},
		{"main.c", "-o", "program", "-L.", "-lone", "-Wl,-rpath,$ORIGIN"},
	} {
		cmd := osexec.CommandContext(t.Context(), compiler, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	f, err := elf.Open(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if loader, err = program.Interpreter(f); err != nil || loader == "" {
		t.Fatal(loader, err)
	}
	return filepath.Join(dir, "program"), loader
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// Libraries are those that the loader would load: first of the folders that are given, then of the
// program's own.
func TestLibraries(t *testing.T) {
	for _, compiler := range []string{"gcc", "musl-gcc"} {
		t.Run(compiler, func(t *testing.T) {
			file, loader := linked(t, compiler)
			beside := filepath.Join(filepath.Dir(file), "libone.so")
			found, err := program.Loader{Path: loader}.Libraries(t.Context(), file)
			if err != nil || found.Paths["libone.so"] != beside || found.Paths[filepath.Base(loader)] != loader || len(found.Missing) > 0 {
				t.Errorf("%v, %v", found, err)
			}
			other := filepath.Join(t.TempDir(), "other (0x1) => b")
			content, err := os.ReadFile(beside)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(other, "libone.so"), string(content))
			found, err = program.Loader{Path: loader, Folders: []string{"/none", other}}.Libraries(t.Context(), file)
			if err != nil || found.Paths["libone.so"] != filepath.Join(other, "libone.so") {
				t.Errorf("%v, %v", found, err)
			}
			if err := os.Remove(beside); err != nil {
				t.Fatal(err)
			}
			found, err = program.Loader{Path: loader}.Libraries(t.Context(), file)
			if err != nil || !slices.Equal(found.Missing, []string{"libone.so"}) {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
}

// A library for better processors counts here, but does not travel.
func TestTunedLibraries(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		return // the folders of other processors have other names
	}
	file, loader := linked(t, "gcc")
	beside := filepath.Join(filepath.Dir(file), "libone.so")
	tuned := filepath.Join(filepath.Dir(file), "glibc-hwcaps/x86-64-v2/libone.so")
	content, err := os.ReadFile(beside)
	if err != nil {
		t.Fatal(err)
	}
	write(t, tuned, string(content))
	for isPlain, want := range map[bool]string{true: beside, false: tuned} {
		found, err := program.Loader{Path: loader, Plain: isPlain}.Libraries(t.Context(), file)
		if err != nil || found.Paths["libone.so"] != want {
			t.Errorf("plain %v: %v, %v", isPlain, found, err)
		}
	}
}

// What is no program, or no loader, is an error with a reason.
func TestLoaderFails(t *testing.T) {
	file, loader := linked(t, "gcc")
	text, notLoader := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "loader")
	write(t, text, strings.Repeat("no program\n", 100))
	write(t, notLoader, "\x7fELF")
	for _, c := range []struct{ loader, file, want string }{
		{loader, text, "invalid ELF header"}, {loader, text, text}, {notLoader, file, "exec format error"}, {loader, file + ".gone", "cannot open shared object file"},
	} {
		if _, err := (program.Loader{Path: c.loader}).Libraries(t.Context(), c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
