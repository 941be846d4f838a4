package reapi_test

import (
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/outcome"
	"muster/test/kits/reapitest"
)

// Whichever way the engine has to give the whole folder is found.
func TestWholeFolder(t *testing.T) {
	for _, whole := range []string{"", ".", "no way"} {
		w := newWorker(t, reapitest.Options{})
		w.whole = whole
		s := w.mustStart(func(o *reapi.Options) {
			o.Setting.Outputs = func(exec.Job) ([]string, func(string) bool) { return []string{assembler}, nil }
		})
		if s.partial != map[bool]int{true: 1}[whole == "no way"] {
			t.Errorf("%q: told %d times that the whole folder is not given", whole, s.partial)
		}
		s.wants(s.cases[0], false)
	}
}

// Of an engine that gives a folder for a name, what nobody asked for does not count.
func TestFolderForName(t *testing.T) {
	w := newWorker(t, reapitest.Options{})
	w.whole = assembler // the folder has a file of that name
	counts := func(at string) bool { return at == assembler+"/"+assembler }
	for _, counts := range []func(string) bool{nil, counts, func(string) bool { return false }} {
		s := w.mustStart(func(o *reapi.Options) {
			o.Setting.Outputs = func(exec.Job) ([]string, func(string) bool) { return []string{assembler}, counts }
		})
		r, err := exec.Run(t.Context(), s.Engine, s.cases[0])
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, p := range r.Outcome.Parts {
			if p.Place == outcome.File {
				left = append(left, p.Path)
			}
		}
		r.Release()
		want := []string{"out.s/HDR_a.h", "out.s/out.s", "out.s/x.c"}
		if counts != nil {
			want = slices.DeleteFunc(want, func(at string) bool { return !counts(at) })
		}
		if !slices.Equal(left, want) {
			t.Errorf("%q, want %q", left, want)
		}
	}
}

func TestWholeFolderRefused(t *testing.T) {
	for code, attempts := range map[codes.Code]int{codes.InvalidArgument: 1, codes.Unimplemented: 1, codes.Internal: 3} {
		w := newWorker(t, reapitest.Options{})
		w.storm(func(c reapitest.Call) error {
			if c.Method == "Execute" && c.Number <= attempts && c.Moment == reapitest.Begin {
				return status.Error(code, "an empty output path")
			}
			return nil
		})
		s := w.mustStart(nil)
		if s.partial != 0 {
			t.Errorf("%v: it gives the whole folder by another name", code)
		}
	}
}
