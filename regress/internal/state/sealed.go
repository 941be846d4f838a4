package state

import (
	"bytes"
	"crypto/sha256"
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
	if filepath.Base(path) == "run.json" { // it has the ID
		runID = ""
	}
	return runID + "/" + filepath.Base(path)
}

// replace writes a sealed file of a run under a temporary name, and renames it.
func replace(runID, path string, content []byte) error {
	err := os.WriteFile(path+".new", seal(labelOf(runID, path), content), 0o644)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fault.Environmentf("state of run %s: %w", runID, err)
	}
	return nil
}
