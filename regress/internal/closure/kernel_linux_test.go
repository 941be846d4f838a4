package closure

import (
	"os"
	"path/filepath"
	"testing"

	"muster/regress/lane/observe"
)

// A file has the handler that the kernel starts for it. Where handlers may be hidden, only programs of this machine and
// scripts are known to have none.
func TestHandlers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"a.jar": "PK", "b": "..XY", "c": "..XZ", "d": "..x", "e": "#!/bin/sh", "f": string(program[:headBytes]), "g": ""}
	check := func(when, want string) {
		t.Helper()
		got, h := "", readHandlers(dir)
		for _, name := range []string{"a.jar", "b", "c", "d", "e", "f", "g"} {
			interpreter, isKnown := h.of("/x/"+name, []byte(files[name]))
			if got += interpreter + ";"; !isKnown {
				got += "?"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	check("not mounted", ";?;?;?;?;;;")
	write("status", "disabled\n")
	write("register", "")
	write("jar", "enabled\ninterpreter /usr/bin/java run\nflags: \nextension .jar\n")
	write("xy", "enabled\ninterpreter xy\nflags: F\noffset 2\nmagic 5859\nmask fffe\n")
	write("off", "disabled\ninterpreter /off\nflags: \noffset 0\nmagic 2e\n")
	check("disabled", ";;;;;;;")
	write("status", "enabled\n")
	check("enabled", "/usr/bin/java run;xy;;;;;;")
	write("xy", "enabled\ninterpreter xy\nflags: F\noffset 2\nmagic 5859\nmask fffc\n")
	check("masked", "/usr/bin/java run;xy;xy;;;;;")
	dir = filepath.Join(dir, "none")
	check("a kernel without handlers", ";;;;;;;")
}

// An interpreter with a relative path is known by the folder of the process.
func TestRelativeInterpreter(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!./x/y\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{"/a/..": "/a/../x/y", "/": "/x/y"} {
		o := WithOpenedByKernel(&observe.Observation{Accesses: []observe.Access{{Path: script, Kind: observe.Executed, Folder: folder}}})
		if len(o.Accesses) != 2 || o.Accesses[1].Path != want || o.Blind != "" {
			t.Errorf("in %s: %+v", folder, o)
		}
	}
	if o := WithOpenedByKernel(&observe.Observation{Accesses: []observe.Access{{Path: script, Kind: observe.Executed}}}); o.Blind == "" {
		t.Errorf("in the folder of the case: %+v", o)
	}
}
