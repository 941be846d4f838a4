package golden

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"muster/internal/realpath"
	"muster/regress/internal/fault"
)

// magic is the beginning of every SQLite file.
const magic = "SQLite format 3\x00"

// Offsets in the header of a SQLite file (sqlite.org/fileformat2.html).
const (
	headerBytes       = 100
	headerVersions    = 18 // versions for writing and reading: 1 is a rollback journal, 2 is WAL
	headerUserVersion = 60
	headerApplication = 68
)

// readHeader returns the header of the file at path, or less of a shorter file.
//
// Closing a file drops the locks that this process holds on it for SQLite. That is harmless only
// because every writer also holds our own lock.
func readHeader(path string) ([]byte, fs.FileInfo, error) {
	if err := checkRegular(path); err != nil {
		return nil, nil, err
	}
	// The name may belong to another file by now. Opening a named pipe would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	defer f.Close()
	var h [headerBytes]byte
	n, err := io.ReadFull(f, h[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, fault.Environmentf("golden %s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, openError(path, err)
	}
	return h[:n], info, nil
}

// isGolden reports whether h is the beginning of a golden.
func isGolden(h []byte) bool {
	return len(h) >= headerApplication+4 && bytes.HasPrefix(h, []byte(magic)) &&
		binary.BigEndian.Uint32(h[headerApplication:]) == applicationID
}

// checkHeader checks the header of the golden at path, and returns its file info. It runs before
// SQLite, for precise messages, and because SQLite would make files beside one that claims WAL
// mode.
func checkHeader(path string) (fs.FileInfo, error) {
	h, info, err := readHeader(path)
	switch {
	case err != nil:
		return nil, err
	case len(h) < headerBytes && (len(h) == 0 || bytes.HasPrefix(h, []byte(magic))):
		return nil, damageError(path, errors.New("it is cut off"))
	case !isGolden(h):
		return nil, foreignError(path)
	}
	if err := checkVersion(path, int64(binary.BigEndian.Uint32(h[headerUserVersion:]))); err != nil {
		return nil, err
	}
	if h[headerVersions] != 1 || h[headerVersions+1] != 1 {
		return nil, damageError(path, errors.New("it is not in rollback-journal mode"))
	}
	return info, nil
}

// CheckReplaceable returns nil if a new golden may replace the file at path: nothing, an empty file, or
// a golden of a format that this muster reads, damaged or not. Anything else belongs to somebody,
// and the error is of class Input. Create calls it. Callers with costly work ahead call it before
// that work.
func CheckReplaceable(path string) error {
	path, err := realpath.Of(path)
	if err != nil {
		return fault.Inputf("golden %w", err)
	}
	if err := checkReplaceable(path); err != nil {
		return err
	}
	return checkReplaceable(path + partSuffix)
}

func checkReplaceable(path string) error {
	h, _, err := readHeader(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(h) == 0:
		return nil
	case err != nil:
		return err
	case !isGolden(h):
		return occupiedError(path, "it is not a muster golden")
	case len(h) < headerBytes: // a golden that is cut off within its header shows no format
		return nil
	}
	if version := binary.BigEndian.Uint32(h[headerUserVersion:]); version > Version {
		return fault.Inputf("golden %s is not replaced: a newer muster made it: it has format %d, and this muster knows formats up to %d: name another --golden, or move it away", path, version, Version)
	}
	return nil
}

// checkRegular returns an error unless path names a regular file. Opening a device may have effects.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return openError(path, err)
	case info.IsDir():
		return occupiedError(path, "it is a folder")
	case !info.Mode().IsRegular():
		return occupiedError(path, "it is not a regular file")
	}
	return nil
}

// occupiedError returns the error for a file that must not be replaced by a golden.
func occupiedError(path, why string) error {
	return fault.Inputf("golden %s: %s: name another --golden, or move it away", path, why)
}

func checkVersion(path string, version int64) error {
	switch {
	case version > Version:
		return fault.Inputf("golden %s has format %d, and this muster reads formats up to %d: use a newer muster, or record again", path, version, Version)
	case version < 1:
		return damageError(path, fmt.Errorf("format %d never existed", version))
	case version < versionFirst:
		return fault.Inputf("golden %s has format %d, which no release of muster wrote: record again", path, version)
	}
	return nil
}
