package closure

import (
	"os"
	"path/filepath"
	"testing"

	"muster/regress/lane/observe"
)

// Where the kernel may have handlers, only programs of this machine and scripts are known to need none.
func TestHandlers(t *testing.T) {
	dir := t.TempDir()
	for handlers, list := range map[string][]string{"none": {"register", "status"}, "hidden": nil, "one": {"register", "status", "qemu-mips"}} {
		folder := filepath.Join(dir, handlers)
		for _, file := range append(list, "") {
			if err := os.MkdirAll(filepath.Join(folder, file), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if got := hasHandlers(folder); got != (handlers != "none") {
			t.Errorf("%s: %t", handlers, got)
		}
	}
	if hasHandlers(filepath.Join(dir, "gone")) {
		t.Error("a kernel without the file system has handlers")
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"": false, "#!/bin/sh\n": false, "MZ": true} {
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		w := &opening{hasHandlers: true, known: map[observe.Access]bool{}}
		w.execute(observe.Access{Path: own, Kind: observe.Executed})
		w.execute(observe.Access{Path: file, Kind: observe.Executed})
		if (w.o.Blind != "") != want {
			t.Errorf("%q: %q", text, w.o.Blind)
		}
	}
}

// An interpreter with a relative path is known by the folder of the process.
func TestRelativeInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
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
