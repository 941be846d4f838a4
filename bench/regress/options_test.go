package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRefused: a misspelt word measures nothing, which nobody should take for a
// measurement.
func TestRefused(t *testing.T) {
	self := executable(t)
	for _, c := range []struct{ args, want string }{
		{"-corpus 67Mb", `-corpus: "67Mb" is none of 1GB,67MB,1KB,54k`},
		{"-corpus 1KB,", `-corpus: "" is none of 1GB,67MB,1KB,54k`},
		{"-tool tcc,clang", `-tool: "clang" is none of tcc,gcc,true`},
		{"-table articles", `-table: "articles" is none of rivals,article,reuse,goals`},
		{"-rounds 0", "at least 1"},
		{"-jobs 0", "at least 1"},
		{"-rouns 3", "not defined: -rouns"},
		{"1KB", "nothing follows"},
		{"-muster x,", `-muster: `},
		{"-muster =" + self, "is no PATH or NAME=PATH"},
		{"-muster a=" + self + ",a=" + self, "two programs have the name a"},
	} {
		args := append([]string{"-muster", self}, strings.Fields(c.args)...)
		err := run(t.Context(), args, t.Output())
		if err == nil || !strings.Contains(err.Error(), c.want) || exitStatus(err) != 2 {
			t.Errorf("%s gave status %d, %v; want %s", c.args, exitStatus(err), err, c.want)
		}
	}
	if err := run(t.Context(), nil, t.Output()); exitStatus(err) != 2 {
		t.Errorf("no -muster gave %v", err)
	}
	if got := exitStatus(errors.New("other")); got != 1 {
		t.Errorf("another error is status %d", got)
	}
}

func TestParse(t *testing.T) {
	self := executable(t)
	link := filepath.Join(t.TempDir(), "muster")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-muster", link + ",old=" + link, "-corpus", "1KB,1GB", "-tool", "true"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if want := []program{{link, self}, {"old", self}}; !slices.Equal(o.musters, want) {
		t.Errorf("programs are %v, want %v", o.musters, want)
	}
	if known(o.specs, specName) != "1GB,1KB" || known(o.tools, toolName) != "true" || o.table != tableRivals {
		t.Errorf("%v %v %s", o.specs, o.tools, o.table)
	}
}

func TestHelp(t *testing.T) {
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-help"}, &help); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"1GB,67MB,1KB,54k", "habr.com/ru/post/117842", "NAME=PATH"} {
		if !strings.Contains(help.String(), word) {
			t.Errorf("the help does not say %s:\n%s", word, help.String())
		}
	}
}

func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		t.Fatal(err)
	}
	return self
}
