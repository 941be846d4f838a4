package check

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/reuse"
	"muster/regress/internal/run"
)

// localChecks are the checks with the same state folder. Their entries are in a file for each setting, and
// their outcomes in the stores of the runs.
type localChecks struct {
	run  *run.Run
	file string
}

// recall implements earlier.
func (l *localChecks) recall(_ context.Context, setting map[string]string) (cases map[string]reuse.Case, why string) {
	setting["the host"], _ = os.Hostname() // "" is one, too
	setting["the folder"], _ = os.Getwd()  // if it is below /tmp, cases see it
	l.file = filepath.Join(l.run.State.Cache(), "reuse", reuse.Name(setting))
	memory := reuse.Read(l.file)
	if len(memory.Cases) == 0 {
		return nil, "no earlier check had this command, these settings and these shared files"
	}
	why = l.run.Tool.Recall(&memory.Tool)
	if path := memory.LooksOther(l.run.Tool.Closure().Own); why == "" && path != "" {
		why = name.Print(path) + ", which the tool uses, has other rights, links or entries since the earlier check"
	}
	if why != "" {
		return nil, why
	}
	return memory.Cases, ""
}

// open implements earlier.
func (l *localChecks) open(_ context.Context, cases map[string]reuse.Case) (map[string]*golden.Store, error) {
	wanted, stores := map[string]bool{}, map[string]*golden.Store{}
	for _, c := range cases {
		wanted[c.Run] = true
	}
	runs, err := l.run.State.Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !wanted[r.ID] {
			continue
		}
		if store, err := golden.Open(r.Outcomes()); err == nil { // else its cases run
			stores[r.ID] = store
		}
	}
	return stores, nil
}

// hides implements earlier.
func (l *localChecks) hides(*exec.Result) bool { return false }

// leave implements earlier.
func (l *localChecks) leave(_ context.Context, cases map[string]reuse.Case, _ bool) error {
	m := reuse.Memory{Tool: *l.run.Tool.Closure(), Cases: cases}
	return m.Write(l.file)
}

// drop implements earlier.
func (l *localChecks) drop() error {
	if err := os.Remove(l.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (l *localChecks) close() {}
