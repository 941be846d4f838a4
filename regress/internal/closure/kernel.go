package closure

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"muster/regress/internal/name"
	"muster/regress/lane/observe"
)

// WithOpenedByKernel returns an observation that also has the files which the kernel opens by itself to execute
// others: interpreters of scripts, loaders of programs and handlers of binfmt_misc. Call it just after the run.
func WithOpenedByKernel(o *observe.Observation) *observe.Observation {
	w := &opening{handlers: readHandlers(handlersFolder), known: map[observe.Access]bool{}}
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
	o        observe.Observation
	handlers handlers
	known    map[observe.Access]bool
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
	handler, isKnown := w.handlers.of(a.Path, head)
	if !isKnown {
		w.setBlind("the tool runs " + name.Print(a.Path) + ", and which program the system starts for it is not visible here (binfmt_misc)")
	}
	for _, path := range []string{opener, handler} {
		switch {
		case path == "":
			continue
		case filepath.IsAbs(path):
		case a.Folder == "":
			w.setBlind("the tool runs " + name.Print(a.Path) + ", whose interpreter is in the folder of the case")
			continue
		default:
			path = strings.TrimSuffix(a.Folder, "/") + "/" + strings.TrimPrefix(path, "./")
		}
		w.execute(observe.Access{Path: path, Kind: observe.Executed, Folder: a.Folder})
	}
}

func (w *opening) setBlind(why string) {
	if w.o.Blind == "" {
		w.o.Blind = why
	}
}

const (
	handlersFolder = "/proc/sys/fs/binfmt_misc"
	headBytes      = 256 // what the kernel looks at
)

// handlers are the programs that the kernel starts for files of certain forms.
type handlers struct {
	list     []handler
	isHidden bool // the kernel may have some, and does not show them
}

// handler is one registration, see binfmt-misc.rst of the kernel.
type handler struct {
	interpreter string
	extension   string // with its dot; "" = magic counts
	offset      int
	magic, mask []byte
}

func readHandlers(folder string) (h handlers) {
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		_, err = os.Stat(folder)
		h.isHidden = err == nil // not mounted, as in a container
		return h
	}
	if strings.TrimSpace(string(status)) != "enabled" {
		return h
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*")) // the pattern is none
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(text), "enabled\ninterpreter ") {
			h.list = append(h.list, parseHandler(string(text)))
		}
	}
	return h
}

func parseHandler(text string) (h handler) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "interpreter":
			h.interpreter = value
		case "extension":
			h.extension = value
		case "offset":
			h.offset, _ = strconv.Atoi(value) // the kernel writes a number
		case "magic":
			h.magic, _ = hex.DecodeString(value) // and pairs of digits
		case "mask":
			h.mask, _ = hex.DecodeString(value)
		}
	}
	return h
}

// takes reports whether the handler is started for a file.
func (h *handler) takes(path string, head []byte) bool {
	if h.extension != "" {
		return strings.HasSuffix(path, h.extension)
	}
	if len(h.magic) == 0 || len(head) < h.offset+len(h.magic) {
		return false
	}
	for i, want := range h.magic {
		is := head[h.offset+i]
		if i < len(h.mask) {
			is, want = is&h.mask[i], want&h.mask[i]
		}
		if is != want {
			return false
		}
	}
	return true
}

// of returns the handler for a file, "" if there is none. It is not known where handlers are hidden and the kernel
// does not execute the file itself.
func (h *handlers) of(path string, head []byte) (interpreter string, isKnown bool) {
	if h.isHidden {
		return "", len(head) == 0 || bytes.HasPrefix(head, []byte("#!")) || isNative(head)
	}
	for i := range h.list {
		if h.list[i].takes(path, head) {
			return h.list[i].interpreter, true
		}
	}
	return "", true
}

// isNative reports whether a file is a program for this machine.
func isNative(head []byte) bool {
	machine := map[string]byte{"amd64": 62, "arm64": 183}[runtime.GOARCH]
	const at = 18 // e_machine
	return bytes.HasPrefix(head, []byte("\x7fELF")) && len(head) > at && head[at] == machine
}
