package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// The kinds of disks. What a real one does beside the benchmark, as writing out what was
// written before, makes figures differ threefold, so that memory is better where nothing is
// to wait.
const (
	pageDisk   = "page"   // an ext4 in memory
	slowDisk   = "slow"   // the same, but few operations a second
	folderDisk = "folder" // whatever the folder is on
)

var diskNames = map[string]string{pageDisk: "ext4 in memory", slowDisk: "a slow disk, read cold", folderDisk: "the folder's disk"}

// renewDisk makes the disk of the contestants' files anew, for every run: an ext4 that has aged
// differs by a factor.
func (b *bench) renewDisk(ctx context.Context) error {
	if err := b.removeDisk(ctx); err != nil {
		return err
	}
	switch b.disk {
	case folderDisk:
		return os.MkdirAll(b.folder, 0o755)
	case pageDisk:
		return b.script(ctx, "make", b.diskSize, "unbound")
	}
	return b.script(ctx, "make", b.diskSize)
}

// coolDisk removes the files of a slow disk from memory. Nobody may use the disk meanwhile.
func (b *bench) coolDisk(ctx context.Context) error {
	if b.disk != slowDisk {
		return nil
	}
	return b.script(ctx, "cold")
}

func (b *bench) removeDisk(ctx context.Context) error {
	if b.disk == folderDisk {
		return os.RemoveAll(b.folder)
	}
	return b.script(context.WithoutCancel(ctx), "remove")
}

func (b *bench) script(ctx context.Context, word string, more ...string) error {
	out, err := exec.CommandContext(ctx, "files/slow-disk", append([]string{word, b.folder}, more...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("slow-disk %s: %w: %s", word, err, out)
	}
	return nil
}
