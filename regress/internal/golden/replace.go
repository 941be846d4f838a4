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

// magic is what every SQLite file begins with.
const magic = "SQLite format 3\x00"

// journalMagic is what SQLite's journals begin with.
const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// Replaceable returns nil when a new golden may take the place of what lies at
// path: nothing, an empty file, or a golden of a format that this muster
// reads, damaged or not. Anything else is somebody's own, and the error is of
// class Input: it names the file, the reason and the mend. So does Create,
// which calls it; it is here for those who have costly work to do first.
func Replaceable(path string) error {
	path = resolve(path)
	for _, p := range []string{path, path + partSuffix} {
		if err := replaceable(p); err != nil {
			return err
		}
		if err := checkJournal(journal(p)); err != nil {
			return err
		}
	}
	return nil
}

// checkJournal refuses a file that has the name of SQLite's journal and is
// none: it would be removed as one. Until it is synced a journal has zeros
// where its magic will be.
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
		return occupied(path, "it is no journal of a golden")
	}
	return nil
}

func replaceable(path string) error {
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
		return occupied(path, "it is no muster golden")
	}
	// Cut off within its header, a golden has no format to ask for.
	if n < headerBytes {
		return nil
	}
	if version := binary.BigEndian.Uint32(h[headerUserVersion:]); version > Version {
		return fault.Inputf("golden %s is not replaced: made by a newer muster: format %d, and this one knows up to %d: name another --golden, or move it away", path, version, Version)
	}
	return nil
}

// isGolden reports whether a file that begins with h was made by a muster.
func isGolden(h []byte) bool {
	return len(h) >= headerApplication+4 && bytes.HasPrefix(h, []byte(magic)) &&
		binary.BigEndian.Uint32(h[headerApplication:]) == applicationID
}

// openRegular opens the file at path for reading. What is not a regular file is
// refused before it is opened: to open a named pipe would wait for a writer,
// and to open a device may do something.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, occupied(path, "it is "+kindOf(info.Mode()))
	}
	if err != nil {
		return nil, nil, openFault(path, err)
	}
	// Another thing may have its name by now.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, openFault(path, err)
	}
	info, err = f.Stat()
	switch {
	case err != nil:
		err = openFault(path, err)
	case !info.Mode().IsRegular():
		err = occupied(path, "it is "+kindOf(info.Mode()))
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// occupied returns the error for something that is no golden where one is to be.
func occupied(path, why string) error {
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
