package tree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Linux's bounds of a name and of a path, in bytes.
const (
	partBytesMax = 255
	pathBytesMax = 4096
)

// checkPath refuses what cannot be a path below a folder.
func checkPath(path string) error {
	if len(path) >= pathBytesMax {
		return fmt.Errorf("a path of %d bytes is longer than %d", len(path), pathBytesMax-1)
	}
	for part := range strings.SplitSeq(path, "/") {
		if err := checkPart(part); err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
	}
	return nil
}

// checkSent refuses what cannot be a path, or cannot be in a message because it is not UTF-8.
func checkSent(path string) error {
	if !utf8.ValidString(path) {
		return fmt.Errorf("path %q: the name is not UTF-8, as the Remote Execution API wants it; rename it, or run it on this machine", path)
	}
	return checkPath(path)
}

func checkPart(part string) error {
	switch {
	case part == "" || part == "." || part == "..":
		return fmt.Errorf("%q cannot be the name of a file", part)
	case len(part) > partBytesMax:
		return fmt.Errorf("a part of %d bytes is longer than %d", len(part), partBytesMax)
	case strings.ContainsAny(part, "/\x00"):
		return fmt.Errorf("%q cannot be the name of a file", part)
	}
	return nil
}
