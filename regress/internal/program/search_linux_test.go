package program

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// anELF is a file with nothing but a header.
func anELF(t *testing.T, class elf.Class) []byte {
	t.Helper()
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	var header any = elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64}
	if class == elf.ELFCLASS32 {
		header = elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_386), Version: 1, Ehsize: 52}
	}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, header); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func put(t *testing.T, content []byte, file string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o755)); err != nil {
		t.Fatal(err)
	}
	return file
}

// The loader of musl knows nothing of glibc's cache, whose libraries have the same names, and
// has folders of its own, beside where it lies itself.
func TestMuslHasItsOwnFolders(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	library := anELF(t, elf.ELFCLASS64)
	loader := put(t, library, at("lib/ld-musl-x86_64.so.1"))
	put(t, []byte(at("none")+"\n"+at("other")+":"+at("own")+"\n"), at("etc/ld-musl-x86_64.path"))
	put(t, anELF(t, elf.ELFCLASS32), at("other/libz.so.1"))
	own, named := put(t, library, at("own/libz.so.1")), put(t, library, at("named/libz.so.1"))
	by := &object{class: elf.ELFCLASS64, machine: elf.EM_X86_64}
	for want, folders := range map[string][]string{own: nil, named: {at("named")}} {
		s := NewSearch(loader, folders)
		if found, err := s.find(by, "libz.so.1"); err != nil || found.path != want || s.cache != nil {
			t.Errorf("%v, %v, want %s", found, err, want)
		}
	}
	if err := os.Remove(at("etc/ld-musl-x86_64.path")); err != nil {
		t.Fatal(err)
	}
	if s := NewSearch(loader, nil); len(s.folders) != 3 {
		t.Errorf("without its file: %q", s.folders)
	}
	for library, is := range map[string]bool{"libc.so": true, "libc.musl-x86_64.so.1": true, "libm.so.6": true, "libcrypt.so.1": false, "libz.so.1": false} {
		if inMusl(library) != is {
			t.Errorf("%s is the loader itself: %v", library, !is)
		}
	}
}
