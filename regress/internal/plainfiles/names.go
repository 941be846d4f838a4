package plainfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// The names inside an export.
const (
	goldenFile  = "golden.json"
	outcomeFile = "outcome.json"
	stdoutFile  = "stdout"
	stderrFile  = "stderr"
	filesFolder = "files"
	caseSuffix  = ".case"
	gitFolder   = ".git"
)

// partMax is the longest part of a path, in bytes, that is written whole. headMax is the length of
// the beginning that a longer one keeps. With the digest and ".case" all are below Linux's 255.
const (
	partMax = 200
	headMax = 120
)

// caseFolder returns the folder of a case, relative to the export.
func caseFolder(caseName string) (string, error) {
	parts, err := cleanParts(caseName)
	if err != nil {
		return "", err
	}
	raw := strings.Split(caseName, "/")
	for i := range parts[:len(parts)-1] {
		if strings.HasSuffix(raw[i], caseSuffix) && strings.HasSuffix(parts[i], caseSuffix) ||
			i == 0 && raw[i] == goldenFile {
			parts[i] = escapeLastDot(parts[i])
		}
	}
	return strings.Join(parts, "/") + caseSuffix, nil
}

// cleanParts returns the parts of a path as they are written. A path that is not clean comes from a
// hostile golden or export, and must not be used.
func cleanParts(path string) ([]string, error) {
	if clean, err := name.Clean(path); err != nil {
		return nil, fault.Inputf("%w", err)
	} else if clean != path {
		return nil, fault.Inputf("name %s is not clean", name.Print(path))
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = printPart(p)
	}
	return parts, nil
}

// printPart returns the printable form of one part, with a hash if it is long. Print writes no '%'
// before a '~', so the two forms never collide.
func printPart(part string) string {
	printed := name.Print(part)
	if strings.EqualFold(part, gitFolder) {
		return escapeLastDot(printed) // git adds nothing below such a folder
	}
	if len(printed) <= partMax {
		return printed
	}
	digest := sha256.Sum256([]byte(part))
	return cutPart(printed) + "%~" + hex.EncodeToString(digest[:16])
}

// cutPart cuts a printed part between two characters.
func cutPart(printed string) string {
	cut := headMax
	for !utf8.RuneStart(printed[cut]) {
		cut--
	}
	if i := strings.LastIndexByte(printed[:cut], '%'); i > cut-len("%XX") {
		cut = i
	}
	return printed[:cut]
}

func escapeLastDot(s string) string {
	i := strings.LastIndexByte(s, '.')
	return fmt.Sprintf("%s%%%02X%s", s[:i], s[i], s[i+1:])
}
