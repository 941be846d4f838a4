package state

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"muster/regress/internal/fault"
)

// version is that of the formats in the folder. Files of the version before have no digests.
const (
	version         = 2
	unsealedVersion = 1
)

// sealEnd ends a sealed file.
const sealEnd = "\n}\n"

// seal returns the text of a file: JSON that wraps content, which is JSON too, with a digest.
func seal(content []byte) []byte {
	return fmt.Appendf(nil, `{"version":%d,"sha256":"%x","content":`+"\n%s"+sealEnd, version, sha256.Sum256(content), content)
}

// unseal is the inverse of seal. It reports false for any text that seal does not return.
func unseal(text []byte) (content []byte, whole bool) {
	from, to := len(seal(nil))-len(sealEnd), len(text)-len(sealEnd)
	if from > to {
		return nil, false
	}
	content = text[from:to]
	return content, bytes.Equal(seal(content), text)
}

// replace writes a sealed file of a run under a temporary name, calls flush unless it is nil, and renames the
// file.
func replace(runID, path string, content []byte, flush func(*os.File) error) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(seal(content))
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
