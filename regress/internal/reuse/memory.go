// Package reuse answers for cases whose outcome an earlier run has: nothing that the case depends on
// has changed since, as far as muster sees it. README.md has the design.
//
// Input: what earlier checks of the same setting left (Read), a function that finds an outcome by its
// digest, and the executor that runs the other cases. Output: an executor that runs a sample first
// and then answers (Executor), and what to leave for later checks (Memory.Write). The package must not
// give a verdict, nor decide what the tool is.
package reuse

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"muster/regress/internal/closure"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/outcome"
)

// version is that of the files. A file of another version is ignored.
const version = 1

// filesMax bounds the files in the folder, each of another setting.
const filesMax = 8

// suffix ends the names of the files.
const suffix = ".json"

// Memory is what earlier checks of one setting left. The zero Memory has no case.
type Memory struct {
	Files  []closure.File  // of the tool
	Places []closure.Place // of the tool
	Cases  map[string]Case

	modes map[string]string // of the files, by path
}

// Case is the entry of a case.
type Case struct {
	Source  outcome.Digest `json:"source"`
	Outcome outcome.Digest `json:"outcome"`
	Runs    int            `json:"runs"`          // that gave this outcome
	Run     string         `json:"run,omitempty"` // the run that stores the outcome; "" = the golden had it
}

// keptMemory is the form of a file. Paths and names are raw bytes.
type keptMemory struct {
	Version int         `json:"version"`
	Files   []keptFile  `json:"files"`
	Places  []keptPlace `json:"places"`
	Cases   []keptCase  `json:"cases"`
}

type keptFile struct {
	Path   []byte         `json:"path"`
	Role   closure.Role   `json:"role"`
	Digest outcome.Digest `json:"digest"`
	Mode   string         `json:"mode"`
}

type keptPlace struct {
	Path     []byte `json:"path"`
	State    string `json:"state"`
	IsListed bool   `json:"is_listed,omitempty"`
}

type keptCase struct {
	Name []byte `json:"name"`
	Case
}

// Name returns the name of the file for a setting.
func Name(setting map[string]string) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(setting)) {
		fmt.Fprintf(h, "%q %q\n", key, setting[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:16]) + suffix
}

// Read reads a file. If it is missing, damaged or of another version, the Memory is empty: everything
// runs.
func Read(file string) (m Memory) {
	text, err := readBounded(file)
	var kept keptMemory
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Version != version {
		return m
	}
	m.Cases, m.modes = make(map[string]Case, len(kept.Cases)), map[string]string{}
	for _, f := range kept.Files {
		path := string(f.Path)
		m.Files = append(m.Files, closure.File{Path: path, Resolved: path, Role: f.Role, Digest: f.Digest})
		m.modes[path] = f.Mode
	}
	for _, p := range kept.Places {
		m.Places = append(m.Places, closure.Place{Path: string(p.Path), State: p.State, IsListed: p.IsListed})
	}
	for _, c := range kept.Cases {
		m.Cases[string(c.Name)] = c.Case
	}
	return m
}

// bytesMax bounds a file: about a million cases.
const bytesMax = 256 << 20

// readBounded reads a regular file, and never waits for a pipe.
func readBounded(file string) (text []byte, err error) {
	f, info, err := filedigest.OpenFile(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info.Size() > bytesMax {
		return nil, errors.New("the file is too large")
	}
	return io.ReadAll(io.LimitReader(f, bytesMax))
}

// OtherMode returns the first file of the tool with other rights or another owner now, or "".
func (m *Memory) OtherMode() string {
	for _, f := range m.Files {
		if modeOf(f.Path) != m.modes[f.Path] {
			return f.Path
		}
	}
	return ""
}

// modeOf describes the rights and the owner of a file. It is empty if nothing is there.
func modeOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	mode := info.Mode().String()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		mode += fmt.Sprintf(" %d:%d", st.Uid, st.Gid)
	}
	return mode
}

// Write replaces a file atomically, and removes the oldest of its folder beyond filesMax.
func (m *Memory) Write(file string) error {
	kept := keptMemory{Version: version}
	for _, f := range m.Files {
		kept.Files = append(kept.Files, keptFile{[]byte(f.Path), f.Role, f.Digest, modeOf(f.Path)})
	}
	for _, p := range m.Places {
		kept.Places = append(kept.Places, keptPlace{[]byte(p.Path), p.State, p.IsListed})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Cases)) {
		kept.Cases = append(kept.Cases, keptCase{[]byte(name), m.Cases[name]})
	}
	text, err := json.Marshal(kept)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = replace(file, text)
	}
	if err != nil {
		return fault.Environmentf("%s: %w", filepath.Dir(file), fault.Reason(err))
	}
	return prune(filepath.Dir(file))
}

func replace(file string, text []byte) error {
	temp := file + ".new"
	err := os.WriteFile(temp, text, 0o644)
	if err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp))
	}
	return err
}

// prune removes the oldest files of a folder.
func prune(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fault.Environmentf("%s: %w", folder, fault.Reason(err))
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), suffix) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range files[min(filesMax, len(files)):] {
		_ = os.Remove(filepath.Join(folder, old.Name())) // the next check tries again
	}
	return nil
}
