package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// A disk is where the contestants' files are. It is new for every run: an ext4 that has
// aged differs by a factor.
type disk struct {
	folder string
	kind   string // page, slow or folder
	size   string
}

// The kinds of disks. What a real one does beside the benchmark, as writing out what was
// written before, makes figures differ threefold, so that memory is better where nothing is
// to wait.
const (
	pageDisk   = "page"   // an ext4 in memory
	slowDisk   = "slow"   // the same, but few operations a second
	folderDisk = "folder" // whatever the folder is on
)

// renew makes it empty.
func (d disk) renew(ctx context.Context) error {
	if d.kind == folderDisk {
		if err := os.RemoveAll(d.folder); err != nil {
			return err
		}
		return os.MkdirAll(d.folder, 0o755)
	}
	if err := d.remove(ctx); err != nil {
		return err
	}
	if d.kind == pageDisk {
		return d.script(ctx, "make", d.size, "unbound")
	}
	return d.script(ctx, "make", d.size)
}

// cool takes what was written out of the memory, where that is to be; nobody may use it.
func (d disk) cool(ctx context.Context) error {
	if d.kind != slowDisk {
		return nil
	}
	return d.script(ctx, "cold")
}

func (d disk) remove(ctx context.Context) error {
	if d.kind == folderDisk {
		return os.RemoveAll(d.folder)
	}
	return d.script(context.WithoutCancel(ctx), "remove")
}

func (d disk) script(ctx context.Context, word string, more ...string) error {
	out, err := exec.CommandContext(ctx, "files/slow-disk", append([]string{word, d.folder}, more...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("slow-disk %s: %w: %s", word, err, out)
	}
	return nil
}
