package golden

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// childFull runs in namespaces of its own, with a disk of 2 MiB at args[0].
func childFull(args []string) error {
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("unmountable: %w", err)
	}
	if err := syscall.Mount("tmpfs", args[0], "tmpfs", 0, "size=2m"); err != nil {
		return fmt.Errorf("unmountable: %w", err)
	}
	path := filepath.Join(args[0], "g")
	b := bag{}
	small, big := b.simple("small", "1", nil), b.simple("big", "2", incompressible(1, 4<<20))
	w, err := Create(path, Meta{})
	must(err)
	must(w.Put(context.Background(), small, b.open), w.Finish())
	if err := fullBuild(path, small, big, b); err != nil {
		return err
	}
	say("update", Update(path, func(tx *Tx) error {
		err := tx.Put(big, b.open)
		say("put", err)
		return nil // do ignores the error, and Update must not
	}))
	all, err := read(path)
	say(fmt.Sprint("golden ", len(all.Records)), err)
	return fullCopies(path, b)
}

// fullCopies has no room for a second golden of that size beside the first.
func fullCopies(path string, b bag) error {
	w, err := Create(path, Meta{})
	must(err)
	middle := b.simple("middle", "3", incompressible(2, 1300<<10))
	must(w.Put(context.Background(), middle, b.open), w.Put(context.Background(), b.simple("small", "1", nil), b.open))
	must(w.PutShared(map[string]outcome.Digest{"HDR_a.h": {1}}), w.Finish())
	_, _, err = Compact(context.Background(), path)
	say("compact", err)
	all, err := read(path)
	say(fmt.Sprint("golden ", len(all.Records)), err)

	db, err := openDatabase(path, readWrite)
	must(err)
	_, err = db.Exec("UPDATE golden SET digest=x''")
	must(err, db.Close())
	_, err = Repair(context.Background(), path)
	say("repair", err)
	left, err := os.ReadDir(filepath.Dir(path))
	say(fmt.Sprint("left ", len(left)), err)

	files := map[string]outcome.Digest{}
	for i := range 12_000 {
		files[fmt.Sprintf("a/%0200d.h", i)] = outcome.Digest{1}
	}
	must(os.Remove(path))
	// They fit into memory until the commit.
	w, err = Create(path, Meta{})
	must(err)
	say("shared", w.PutShared(files))
	say("finish", w.Finish())
	return nil
}

// fullBuild fills the disk with an unfinished store, and gives it up.
func fullBuild(path string, small, big Record, b bag) error {
	w, err := Create(path, Meta{})
	must(err)
	must(w.Put(context.Background(), small, b.open), w.do(w.commit))
	if err = w.Put(context.Background(), big, b.open); err == nil {
		err = w.do(w.commit)
	}
	say("build", err)
	say("again", w.Put(context.Background(), small, b.open))
	say("finish", w.Finish())
	all, err := read(path)
	say(fmt.Sprint("golden ", len(all.Records)), err)
	w, err = Resume(path)
	must(err)
	_, found, err := w.Get("small")
	say(fmt.Sprint("kept ", found), err)
	return w.Abort(false)
}

func TestFullDisk(t *testing.T) {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Getuid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	lines := startChild(t, attr, "full", t.TempDir()).rest()
	if len(lines) == 1 && strings.Contains(lines[0], "unmountable") {
		needed(t, fmt.Errorf("no small disk here: %s", lines[0]))
	}
	env := fmt.Sprint(regress.Environment)
	want := []string{
		"build " + env, "again " + env, "finish " + env, "golden 1 0 <nil>", "kept true 0 <nil>",
		"put " + env, "update " + env, "golden 1 0 <nil>",
		"compact " + env, "golden 2 0 <nil>", "repair " + env, "left 1 0 <nil>", "shared 0 <nil>", "finish " + env,
	}
	for i, w := range want {
		if i >= len(lines) || !strings.HasPrefix(lines[i], w) {
			t.Fatalf("line %d is not %q:\n%s", i, w, strings.Join(lines, "\n"))
		}
		if strings.HasSuffix(w, " "+env) && !strings.Contains(lines[i], "disk is full") {
			t.Errorf("%s does not say that the disk is full", lines[i])
		}
	}
}
