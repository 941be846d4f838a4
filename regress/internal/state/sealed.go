package state

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/regress/internal/fault"
)

// version is that of the formats in the folder. Files of the version before have no digests.
const (
	version         = 2
	unsealedVersion = 1
)

// sealEnd ends a sealed file.
const sealEnd = "\n}\n"

// seal returns the text of a file: JSON that wraps content, which is JSON too, with a digest of the label and the
// content. The label is the run and the name of the file, so that no other file can take its place.
func seal(label string, content []byte) []byte {
	digest := sha256.Sum256(append([]byte(label+"\n"), content...))
	return fmt.Appendf(nil, `{"version":%d,"sha256":"%x","content":`+"\n%s"+sealEnd, version, digest, content)
}

// unseal is the inverse of seal. It reports false for any text that seal does not return.
func unseal(label string, text []byte) (content []byte, whole bool) {
	from, to := len(seal(label, nil))-len(sealEnd), len(text)-len(sealEnd)
	if from > to {
		return nil, false
	}
	content = text[from:to]
	return content, bytes.Equal(seal(label, content), text)
}

// labelOf returns the label of a file of a run.
func labelOf(runID, path string) string {
	switch filepath.Base(path) {
	case familiesName, "run.json": // the former is of all runs, and the latter has its ID
		runID = ""
	}
	return runID + "/" + filepath.Base(path)
}

// replace writes a sealed file of a run under a temporary name, calls flush unless it is nil, and renames the
// file.
func replace(runID, path string, content []byte, flush func(*os.File) error) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(seal(labelOf(runID, path), content))
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
