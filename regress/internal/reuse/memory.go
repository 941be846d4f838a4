// Package reuse answers for cases whose outcome an earlier run has: nothing that the case depends on
// has changed since, as far as muster sees it. README.md has the design.
//
// Input: what earlier checks of the same setting left (Read), a function that finds an outcome by its
// digest, and the executor that runs the other cases. Output: an executor that runs a sample first
// and then answers (Executor), and what to leave for later checks (Memory.Write). The package must not
// give a verdict, nor decide what the tool is.
package reuse

import (
	"bytes"
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
const version = 2

// filesMax bounds the files in the folder, each of another setting.
const filesMax = 8

// suffix ends the names of the files.
const suffix = ".json"

// Memory is what earlier checks of one setting left. The zero Memory has no case.
type Memory struct {
	Tool  closure.Closure
	Cases map[string]Case

	looks map[string]string // of the tool's paths
}

// Case is the entry of a case. An entry without an outcome says that the outcome varied.
type Case struct {
	Source  outcome.Digest `json:"source"`
	Outcome outcome.Digest `json:"outcome"`
	Runs    int            `json:"runs"`            // that gave this outcome
	Run     string         `json:"run,omitempty"`   // the run that stores the outcome, or the ID of its store in a cache; "" = the golden had it
	Maker   string         `json:"maker,omitempty"` // in a cache: the host that ran the case
}

// HasOutcome reports whether the outcome of the case did not vary.
func (c Case) HasOutcome() bool { return c.Outcome != (outcome.Digest{}) }

// keptMemory is the form of a file, below a line with the digest of the rest. Paths and names are raw bytes.
type keptMemory struct {
	Version int        `json:"version"`
	Paths   []keptPath `json:"paths"`
	Cases   []keptCase `json:"cases"`
}

// keptPath is a file of the tool, or a place.
type keptPath struct {
	Path      []byte         `json:"path"`
	Role      closure.Role   `json:"role,omitempty"` // "" = a place
	Digest    outcome.Digest `json:"digest,omitzero"`
	State     string         `json:"state,omitempty"`
	IsListed  bool           `json:"is_listed,omitempty"`
	IsWritten bool           `json:"is_written,omitempty"`
	Look      string         `json:"look"`
}

type keptCase struct {
	Name []byte `json:"name"`
	Case
}

// Name returns the name of the file for a setting.
func Name(setting map[string]string) string {
	key := Key(setting)
	return hex.EncodeToString(key[:16]) + suffix
}

// Key returns the digest of a setting.
func Key(setting map[string]string) outcome.Digest {
	var text []byte
	for _, key := range slices.Sorted(maps.Keys(setting)) {
		text = fmt.Appendf(text, "%q %q\n", key, setting[key])
	}
	return outcome.Of(text)
}

// Read reads a file. If it is missing, damaged or of another version, the Memory is empty: everything
// runs.
func Read(file string) (m Memory) {
	all, err := readBounded(file)
	digest, text, _ := bytes.Cut(all, []byte("\n"))
	var kept keptMemory
	if err != nil || string(digest) != outcome.Of(text).String() || json.Unmarshal(text, &kept) != nil || kept.Version != version {
		return m
	}
	m.Cases, m.looks = make(map[string]Case, len(kept.Cases)), make(map[string]string, len(kept.Paths))
	for _, p := range kept.Paths {
		path := string(p.Path)
		m.looks[path] = p.Look
		if p.Role == "" {
			m.Tool.Places = append(m.Tool.Places, closure.Place{Path: path, State: p.State, IsListed: p.IsListed, IsWritten: p.IsWritten})
		} else {
			m.Tool.Files = append(m.Tool.Files, closure.File{Path: path, Role: p.Role, Digest: p.Digest})
		}
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

// LooksOther returns the first path of the tool that looks otherwise now, or "". own are muster's files.
func (m *Memory) LooksOther(own closure.Own) string {
	for _, f := range m.Tool.Files {
		if lookOf(f.Path, false, own) != m.looks[f.Path] {
			return f.Path
		}
	}
	for _, p := range m.Tool.Places {
		if lookOf(p.Path, p.IsListed, own) != m.looks[p.Path] {
			return p.Path
		}
	}
	return ""
}

// lookOf describes what a program can see at a path beside a content: where links lead, the rights, the
// owner, whether the mount lets programs write and run, and what a listed folder has, in the order of the folder.
func lookOf(path string, isListed bool, own closure.Own) string {
	target, _ := os.Readlink(path)             // "" if it is no link
	resolved, _ := filepath.EvalSymlinks(path) // "" if nothing is there
	look := fmt.Sprintf("%q %q", target, resolved)
	info, err := os.Stat(path)
	if err != nil {
		return look + " " + flagsOf(filepath.Dir(path))
	}
	look += " " + flagsOf(path) + " " + info.Mode().String()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		look += fmt.Sprintf(" %d:%d", st.Uid, st.Gid)
	}
	if isListed && info.IsDir() { // a pipe would wait
		look += " " + entriesOf(path, own).String()
	}
	return look
}

// entriesOf returns the digest of the names in a folder, with what they name.
func entriesOf(folder string, own closure.Own) outcome.Digest {
	var text []byte
	if f, err := os.Open(folder); err == nil {
		defer func() { _ = f.Close() }() // it was only read
		entries, _ := f.ReadDir(-1)      // on an error, those before it count
		for _, e := range entries {
			if !own[filepath.Join(folder, e.Name())] {
				text = fmt.Appendf(text, "%v %q\n", e.Type(), e.Name())
			}
		}
	}
	return outcome.Of(text)
}

// Write replaces a file atomically, and removes the oldest of its folder beyond filesMax.
func (m *Memory) Write(file string) error {
	kept := keptMemory{Version: version}
	for _, f := range m.Tool.Files {
		kept.Paths = append(kept.Paths, keptPath{Path: []byte(f.Path), Role: f.Role, Digest: f.Digest, Look: lookOf(f.Path, false, m.Tool.Own)})
	}
	for _, p := range m.Tool.Places {
		kept.Paths = append(kept.Paths, keptPath{Path: []byte(p.Path), State: p.State, IsListed: p.IsListed, IsWritten: p.IsWritten, Look: lookOf(p.Path, p.IsListed, m.Tool.Own)})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Cases)) {
		kept.Cases = append(kept.Cases, keptCase{[]byte(name), m.Cases[name]})
	}
	text, err := json.Marshal(kept)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = replace(file, slices.Concat([]byte(outcome.Of(text).String()), []byte("\n"), text))
	}
	if err != nil {
		return fault.Environmentf("%s: %w", filepath.Dir(file), fault.Reason(err))
	}
	return prune(filepath.Dir(file))
}

// replace writes a file beside its place, and renames it. Nothing else writes there.
func replace(file string, text []byte) error {
	temp := file + ".new"
	_ = os.Remove(temp) // of a check that was killed, or a link to another file
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
