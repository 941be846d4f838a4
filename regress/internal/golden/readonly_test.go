package golden

import (
	"fmt"
	"muster/regress"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user who owns nothing.
const nobody = 65534

// childNobody does args[1] to the golden at args[0] without the rights of root, and prints the
// result.
func childNobody(args []string) error {
	if os.Getuid() == 0 {
		must(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
	}
	switch args[1] {
	case "read":
		all, err := read(args[0])
		say(fmt.Sprint(len(all.Records)), err)
	case "update":
		say("", Update(args[0], func(*Tx) error { return nil }))
	case "create":
		_, err := Create(args[0], Meta{})
		say("", err)
	}
	return nil
}

// readOnlyGolden runs do as nobody on a golden in a folder, both with the given modes, and returns
// its output.
func readOnlyGolden(t *testing.T, path, do string, file, folder os.FileMode) string {
	t.Helper()
	dir := filepath.Dir(path)
	// The folder of all temporary folders of this test is for its owner only.
	for _, err := range []error{os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(path, file), os.Chmod(dir, folder)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(dir, 0o755)
	lines := startChild(t, nil, "nobody", path, do).rest()
	if len(lines) != 1 {
		t.Fatalf("the child says %q", lines)
	}
	return lines[0]
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, generation(0))
	env := fmt.Sprint(regress.Environment)
	for _, test := range []struct {
		do           string
		file, folder os.FileMode
		begins, says string
	}{
		{"read", 0o444, 0o555, fmt.Sprint(killCases, " 0 <nil>"), ""},
		{"read", 0o444, 0o777, fmt.Sprint(killCases, " 0 <nil>"), ""},
		{"read", 0o666, 0o555, fmt.Sprint(killCases, " 0 <nil>"), ""},
		{"read", 0o000, 0o555, "0 " + env, "permission denied"},
		{"update", 0o444, 0o777, " " + env, "writable"},
		{"update", 0o666, 0o555, " " + env, "writable"},
		{"create", 0o666, 0o555, " " + env, "writable"},
	} {
		said := readOnlyGolden(t, path, test.do, test.file, test.folder)
		if !strings.HasPrefix(said, test.begins) || !strings.Contains(said, test.says) {
			t.Errorf("%s of a file %o in a folder %o: %s", test.do, test.file, test.folder, said)
		}
		alone(t, path)
	}
}

// Without write permission nobody can roll back, and must not read a half-written golden.
func TestHalfChangedReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	state := generation(0)
	halfChanged(t, path, state)
	for _, modes := range [][2]os.FileMode{{0o444, 0o555}, {0o444, 0o777}, {0o666, 0o555}} {
		said := readOnlyGolden(t, path, "read", modes[0], modes[1])
		if !strings.HasPrefix(said, fmt.Sprint("0 ", regress.Environment)) || !strings.Contains(said, "writable") {
			t.Errorf("file %o in a folder %o: %s", modes[0], modes[1], said)
		}
	}
	same(t, mustRead(t, path), state)
}
