package oracle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// TestMain gives root's process a mount namespace of its own.
func TestMain(m *testing.M) {
	const isIn = "MUSTER_ORACLE_MOUNTS=1"
	if os.Getuid() == 0 && os.Getenv("MUSTER_ORACLE_MOUNTS") == "" {
		runtime.LockOSThread()
		if syscall.Unshare(syscall.CLONE_NEWNS) == nil && syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") == nil {
			_ = syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), isIn)) // it does not return
		}
		runtime.UnlockOSThread()
	}
	m.Run()
}

// images are two images whose files have the same size, times and inodes. The first one is mounted.
type images []string

// mountImages makes two images and mounts one as the folder of keptFile. It returns nil where that is not possible.
func mountImages(t *testing.T, p *modelPlace) images {
	list := images{p.path("first.img"), p.path("second.img")}
	make := exec.CommandContext(t.Context(), "mke2fs", "-q", "-t", "ext2", "-b", "1024", "-d", p.path("kept"), list[0], "256K")
	make.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	out, err := make.CombinedOutput()
	if os.Getenv("MUSTER_ORACLE_MOUNTS") == "" {
		err = errors.New("no mount namespace")
	}
	var image []byte
	if err == nil {
		image, err = os.ReadFile(list[0])
	}
	if err == nil {
		err = os.WriteFile(list[1], bytes.ReplaceAll(image, []byte("kept file"), []byte("KEPT FILE")), 0o644)
	}
	if err == nil {
		err = list.mount(p.path("kept"))
	}
	if err != nil {
		t.Logf("no image is mounted again: %v %s", err, out)
		return nil
	}
	t.Cleanup(func() { _ = syscall.Unmount(p.path("kept"), syscall.MNT_DETACH) })
	return list
}

// mount mounts the first image in place of what is mounted.
func (i images) mount(at string) error {
	if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil && err != syscall.EINVAL {
		return err
	}
	out, err := exec.CommandContext(context.Background(), "mount", "-o", "loop,ro", i[0], at).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
