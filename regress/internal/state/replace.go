package state

import (
	"errors"
	"os"

	"muster/regress/internal/fault"
)

// replace writes a file of a run under a temporary name, calls flush unless it is nil, and renames the file.
func replace(runID, path string, text []byte, flush func(*os.File) error) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(text)
		if err == nil && flush != nil {
			err = flush(f)
		}
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fault.Environmentf("state of run %s: %w", runID, err)
	}
	return nil
}
