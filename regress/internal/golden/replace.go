package golden

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"muster/regress/internal/fault"
)

// magic is the beginning of every SQLite file.
const magic = "SQLite format 3\x00"

// journalMagic is the beginning of SQLite's journals.
const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// CheckReplaceable returns nil if a new golden may replace the file at path: nothing, an empty file, or
// a golden of a format that this muster reads, damaged or not. Anything else belongs to somebody,
// and the error is of class Input. Create calls it. Callers with costly work ahead call it before
// that work.
func CheckReplaceable(path string) error {
	path = resolve(path)
	for _, p := range []string{path, path + partSuffix} {
		if err := checkReplaceable(p); err != nil {
			return err
		}
		if err := checkJournal(journal(p)); err != nil {
			return err
		}
	}
	return nil
}

// checkJournal refuses a file with the name of SQLite's journal that is not one, because it would
// be removed. Before its first sync, a journal has zeros instead of its magic.
func checkJournal(path string) error {
	f, _, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var h [len(journalMagic)]byte
	n, err := io.ReadFull(f, h[:])
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Environmentf("golden: %w", err)
	}
	if b := h[:n]; string(b) != journalMagic && len(bytes.Trim(b, "\x00")) > 0 {
		return occupiedError(path, "it is not the journal of a golden")
	}
	return nil
}

func checkReplaceable(path string) error {
	f, _, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var h [headerBytes]byte
	n, err := io.ReadFull(f, h[:])
	switch {
	case err == io.EOF:
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Environmentf("golden: %w", err)
	case !isGolden(h[:n]):
		return occupiedError(path, "it is not a muster golden")
	}
	// A golden that is cut off within its header shows no format.
	if n < headerBytes {
		return nil
	}
	if version := binary.BigEndian.Uint32(h[headerUserVersion:]); version > Version {
		return fault.Inputf("golden %s is not replaced: a newer muster made it: it has format %d, and this muster knows formats up to %d: name another --golden, or move it away", path, version, Version)
	}
	return nil
}

// isGolden reports whether h is the beginning of a golden.
func isGolden(h []byte) bool {
	return len(h) >= headerApplication+4 && bytes.HasPrefix(h, []byte(magic)) &&
		binary.BigEndian.Uint32(h[headerApplication:]) == applicationID
}

// openRegular opens the file at path for reading. It refuses other kinds of files before it opens
// them: opening a named pipe would wait for a writer, and opening a device may have effects.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, occupiedError(path, "it is "+kindOf(info.Mode()))
	}
	if err != nil {
		return nil, nil, openError(path, err)
	}
	// The name may belong to another file by now.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	info, err = f.Stat()
	switch {
	case err != nil:
		err = openError(path, err)
	case !info.Mode().IsRegular():
		err = occupiedError(path, "it is "+kindOf(info.Mode()))
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// occupiedError returns the error for a file that must not be replaced by a golden.
func occupiedError(path, why string) error {
	return fault.Inputf("golden %s: %s: name another --golden, or move it away", path, why)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}
