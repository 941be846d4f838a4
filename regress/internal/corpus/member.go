package corpus

import (
	"archive/tar"
	"errors"
	"fmt"
	"path"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/name"
)

// kind is the kind of a member of an archive.
type kind uint8

const (
	aside    kind = iota // a label or the root folder: nothing to keep
	regular              // with content
	folder               // not a case
	symlink              // target is raw
	hardlink             // target is a cleaned name
)

// member is the part of a checked tar header that matters here.
type member struct {
	kind   kind
	name   string
	target string
	exec   bool
	size   int64 // of a regular member, holes filled, else 0
	stored int64 // bytes after the header; 0 if sparse
	sparse bool  // the archive does not hold the content as it is
}

// readMember checks a header. Its errors name the reason and the mend. The caller adds the names of
// the archive and the entry.
func readMember(h *tar.Header) (member, error) {
	m := member{exec: h.Mode&0o100 != 0}
	var err error
	if m.sparse, err = isSparse(h); err != nil {
		return m, err
	}
	if m.kind, err = kindOfMember(h); err != nil {
		return m, err
	}
	if m.kind == regular {
		m.size = h.Size
	}
	if hasContent(h.Typeflag) && !m.sparse {
		m.stored = h.Size
	}
	if m.kind == folder && h.Name != "" && path.Clean(h.Name) == "." {
		m.kind = aside // the root
	}
	if m.kind == aside {
		return m, nil
	}
	if m.name, err = name.Clean(h.Name); err != nil {
		return m, fmt.Errorf("%w; leave it out or rename it", err)
	}
	m.name = strings.Clone(m.name) // it may be part of a much larger record
	m.target, err = linkTarget(m.kind, h.Linkname)
	return m, err
}

func kindOfMember(h *tar.Header) (kind, error) {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse: // archive/tar makes the old NUL type TypeReg
		if !strings.HasSuffix(h.Name, "/") {
			return regular, nil
		}
		if h.Size != 0 {
			return aside, fmt.Errorf("its name ends in a slash, and it has %s of content; rename it", readable.Count(h.Size, "byte"))
		}
		return folder, nil
	case tar.TypeDir, typeDumpDir:
		return folder, nil
	case tar.TypeSymlink:
		return symlink, nil
	case tar.TypeLink:
		return hardlink, nil
	case tar.TypeXGlobalHeader:
		return aside, checkGlobal(h)
	case typeVolume:
		return aside, nil
	case tar.TypeChar, tar.TypeBlock:
		return aside, errors.New("is a device, which no case can be; leave it out")
	case tar.TypeFifo:
		return aside, errors.New("is a named pipe, which no case can be; leave it out")
	case typeMultiVolume:
		return aside, errors.New("goes on from another volume; join the volumes first")
	}
	return aside, fmt.Errorf("has type %q, which is not known; repack it with tar --format=pax", h.Typeflag)
}

// hasContent reports whether bytes follow the header, by archive/tar's rules: for the other types
// it reads no content, whatever size they claim.
func hasContent(typeflag byte) bool {
	switch typeflag {
	case tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeDir, tar.TypeFifo:
		return false
	}
	return true
}

// GNU tar's own types, which archive/tar does not name.
const (
	typeDumpDir     = 'D' // a folder, and as content the names in it
	typeMultiVolume = 'M'
	typeVolume      = 'V' // the archive's label
)

func linkTarget(k kind, raw string) (string, error) {
	switch {
	case k != symlink && k != hardlink:
		return "", nil
	case raw == "":
		return "", errors.New("is a link to nothing at all; leave it out")
	case k == hardlink:
		clean, err := name.Clean(raw)
		if err != nil {
			return "", fmt.Errorf("is a hard link, and %w; leave it out", err)
		}
		return strings.Clone(clean), nil
	case len(raw) > targetBytesMax:
		return "", fmt.Errorf("is a link to a path of %s, more than %s; leave it out", readable.Count(len(raw), "byte"), readable.Number(targetBytesMax))
	}
	return strings.Clone(raw), nil
}

// targetBytesMax is the longest target of a symlink in Linux.
const targetBytesMax = 4095

// checkGlobal refuses a global record that would change the entries after it, because archive/tar
// does not apply it.
func checkGlobal(h *tar.Header) error {
	for key := range h.PAXRecords {
		if key == "path" || key == "linkpath" || key == "size" || sparseKey(key) {
			return fmt.Errorf("is a global header that sets %s for all entries, which is not supported; repack it", name.Print(key))
		}
	}
	return nil
}

// isSparse reports whether the archive holds only the filled parts of the content. It returns an
// error for a sparse format that archive/tar would take for plain content.
func isSparse(h *tar.Header) (bool, error) {
	if h.Typeflag == tar.TypeGNUSparse {
		return true, nil
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return false, nil
	}
	found := false
	for key := range h.PAXRecords {
		found = found || sparseKey(key)
	}
	if !found {
		return false, nil
	}
	switch version := h.PAXRecords["GNU.sparse.major"] + "." + h.PAXRecords["GNU.sparse.minor"]; version {
	case "0.0", "0.1", "1.0":
		return true, nil
	case ".":
		if h.PAXRecords["GNU.sparse.map"] != "" {
			return true, nil
		}
	}
	return false, errors.New("is sparse in a format that is not known; repack it with tar without -S")
}

func sparseKey(key string) bool {
	return strings.HasPrefix(key, "GNU.sparse.") || key == "SCHILY.realsize"
}
