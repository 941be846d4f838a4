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
	slow   bool
}

// renew makes it empty.
func (d disk) renew(ctx context.Context) error {
	if !d.slow {
		if err := os.RemoveAll(d.folder); err != nil {
			return err
		}
		return os.MkdirAll(d.folder, 0o755)
	}
	if err := d.remove(ctx); err != nil {
		return err
	}
	return d.script(ctx, "make")
}

// cool takes what was written out of the memory, where that is to be; nobody may use it.
func (d disk) cool(ctx context.Context) error {
	if !d.slow {
		return nil
	}
	return d.script(ctx, "cold")
}

func (d disk) remove(ctx context.Context) error {
	if !d.slow {
		return os.RemoveAll(d.folder)
	}
	return d.script(context.WithoutCancel(ctx), "remove")
}

func (d disk) script(ctx context.Context, word string) error {
	out, err := exec.CommandContext(ctx, "files/slow-disk", word, d.folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("slow-disk %s: %w: %s", word, err, out)
	}
	return nil
}
