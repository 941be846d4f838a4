package bundle

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec"
)

// anELF is a file with nothing but a header, and the loader that it asks for, if it does.
func anELF(t *testing.T, class elf.Class, interp string) []byte {
	t.Helper()
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	programs := uint16(min(len(interp), 1))
	var header, program any
	var at int
	if class == elf.ELFCLASS32 {
		header = elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_386), Version: 1, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: programs}
		at = 52 + 32
		program = elf.Prog32{Type: uint32(elf.PT_INTERP), Off: uint32(at), Filesz: uint32(len(interp) + 1)}
	} else {
		header = elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: programs}
		at = 64 + 56
		program = elf.Prog64{Type: uint32(elf.PT_INTERP), Off: uint64(at), Filesz: uint64(len(interp) + 1)}
	}
	var b bytes.Buffer
	err := errors.Join(binary.Write(&b, binary.LittleEndian, header), binary.Write(&b, binary.LittleEndian, program))
	if err != nil || b.Len() != at {
		t.Fatal(b.Len(), err)
	}
	return append(b.Bytes(), interp+"\x00"...)
}

func put(t *testing.T, content []byte, file string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o755)); err != nil {
		t.Fatal(err)
	}
	return file
}

// A program of 32 bits has a loader of its own, which travels under its own name.
func TestLoaderIsThePrograms(t *testing.T) {
	dir := t.TempDir()
	loader := put(t, []byte("#!/bin/sh\n# knows --argv0\n"), filepath.Join(dir, "ld-linux.so.2"))
	for name, c := range map[string]struct {
		program []byte
		want    string
	}{
		"32 bits":         {anELF(t, elf.ELFCLASS32, loader), "../tool/lib/ld-linux.so.2 --library-path ../tool/lib --argv0 NAME ../tool/bin/program"},
		"64 bits":         {anELF(t, elf.ELFCLASS64, loader), "../tool/lib/ld-linux.so.2 --library-path ../tool/lib --argv0 NAME ../tool/bin/program"},
		"static":          {anELF(t, elf.ELFCLASS32, ""), "../tool/bin/program"},
		"static, 64 bits": {anELF(t, elf.ELFCLASS64, ""), "../tool/bin/program"},
	} {
		program := put(t, c.program, filepath.Join(t.TempDir(), "program"))
		b, err := Make(t.Context(), Options{Command: &exec.Command{Words: []string{"NAME"}, Path: program}, Bundle: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(b.Args([]string{"NAME"}), " "); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	program := put(t, anELF(t, elf.ELFCLASS64, loader+".gone"), filepath.Join(dir, "program"))
	_, err := Make(t.Context(), Options{Command: &exec.Command{Words: []string{program}, Path: program}, Bundle: true})
	if regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), "the loader "+loader+".gone that it asks for is not there") {
		t.Errorf("%v", err)
	}
}

// A shell that opens the source for a tool of another loader cannot be sent beside it.
func TestStdinOfAnotherLoader(t *testing.T) {
	dir := t.TempDir()
	program := put(t, anELF(t, elf.ELFCLASS32, put(t, []byte("#!/bin/sh\n"), filepath.Join(dir, "ld-linux.so.2"))), filepath.Join(dir, "program"))
	_, err := Make(t.Context(), Options{Command: &exec.Command{Words: []string{program}, Path: program, Stdin: true}, Bundle: true})
	if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "without --stdin") {
		t.Errorf("%v", err)
	}
}
