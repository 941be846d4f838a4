package closure

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"muster/regress/internal/name"
	"muster/regress/lane/observe"
)

// WithOpenedByKernel returns an observation that also has the files which the kernel opens by itself to execute
// others: interpreters of scripts, loaders of programs and handlers of binfmt_misc. Call it just after the run.
func WithOpenedByKernel(o *observe.Observation) *observe.Observation {
	w := &opening{hasHandlers: hasHandlers("/proc/sys/fs/binfmt_misc"), known: map[observe.Access]bool{}}
	w.o = *o
	w.o.Accesses = nil
	for _, a := range o.Accesses {
		if a.Kind&observe.Executed != 0 {
			w.execute(a)
		} else {
			w.o.Accesses = append(w.o.Accesses, a)
		}
	}
	return &w.o
}

// opening adds to an observation.
type opening struct {
	o           observe.Observation
	hasHandlers bool
	known       map[observe.Access]bool
}

// execute adds an executed file, and what the kernel opens to execute it.
func (w *opening) execute(a observe.Access) {
	if w.known[a] {
		return
	}
	w.known[a] = true
	head, opener := []byte(a.Head), ""
	if a.Head == "" {
		w.o.Accesses = append(w.o.Accesses, observe.Access{Path: a.Path, Kind: a.Kind})
		info, err := os.Stat(a.Path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return // it does not start
		}
		f, err := os.Open(a.Path)
		if err != nil {
			return // perhaps it may be executed, but not read
		}
		read := func(b []byte, at int64) int {
			n, _ := f.ReadAt(b, at) // what is there counts
			return n
		}
		opener = observe.Opener(read)
		head = make([]byte, headBytes)
		head = head[:read(head, 0)]
		f.Close()
	}
	if w.hasHandlers && len(head) > 0 && !bytes.HasPrefix(head, []byte("#!")) && !isNative(head) {
		w.setBlind("the tool runs " + name.Print(a.Path) + ", for which the system may start another program (binfmt_misc)")
	}
	switch {
	case opener == "":
	case filepath.IsAbs(opener):
		w.execute(observe.Access{Path: opener, Kind: observe.Executed, Folder: a.Folder})
	case a.Folder == "":
		w.setBlind("the tool runs " + name.Print(a.Path) + ", whose interpreter is in the folder of the case")
	default:
		path := strings.TrimSuffix(a.Folder, "/") + "/" + strings.TrimPrefix(opener, "./")
		w.execute(observe.Access{Path: path, Kind: observe.Executed, Folder: a.Folder})
	}
}

func (w *opening) setBlind(why string) {
	if w.o.Blind == "" {
		w.o.Blind = why
	}
}

const headBytes = 256 // what the kernel looks at

// hasHandlers reports whether the kernel may start other programs for files of certain forms. Where its list is not
// mounted, as in a container, that is not known.
func hasHandlers(folder string) bool {
	files, err := os.ReadDir(folder)
	return err == nil && len(files) != 2 // "register" and "status" are always there
}

// isNative reports whether a file is a program for this machine.
func isNative(head []byte) bool {
	machine := map[string]byte{"amd64": 62, "arm64": 183}[runtime.GOARCH]
	const at = 18 // e_machine
	return bytes.HasPrefix(head, []byte("\x7fELF")) && len(head) > at && head[at] == machine
}
