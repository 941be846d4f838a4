package program

import (
	"os"
	"path/filepath"
	"strings"
)

// muslPrefix is the prefix of musl's loader, which is also its library, as in
// /lib/ld-musl-x86_64.so.1.
const muslPrefix = "ld-musl-"

func isMusl(loader string) bool { return strings.HasPrefix(filepath.Base(loader), muslPrefix) }

// muslFolders returns the folders in the system's file for that loader, /etc/ld-musl-x86_64.path,
// or else the usual ones.
func muslFolders(loader string) []string {
	base := strings.TrimSuffix(filepath.Base(loader), ".so.1") + ".path"
	text, err := os.ReadFile(filepath.Join(filepath.Dir(loader), "../etc", base))
	if err != nil {
		return []string{"/lib", "/usr/local/lib", "/usr/lib"}
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == ':' || r == '\n' })
}

// inMusl reports whether a library is the loader itself, even if a file has that name.
func inMusl(library string) bool {
	first, _, ok := strings.Cut(library, ".")
	switch first {
	case "libc", "libpthread", "librt", "libm", "libdl", "libutil", "libxnet":
		return ok
	}
	return false
}
