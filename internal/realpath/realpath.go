// Package realpath follows the links at a path to the file that a program is to replace. A rename over a
// link would replace the link.
//
// The package opens, makes and removes no file.
package realpath

import (
	"fmt"
	"os"
	"path/filepath"
)

// linksMax bounds how many links lead from one to the next, as Linux does.
const linksMax = 40

// Of returns the path of the file that path leads to. The file need not exist, but its folder must if
// path is a link.
func Of(path string) (string, error) {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found, nil
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil // such as /dev/stdout, which may lead to a pipe
	}
	at := path
	for range linksMax {
		to, err := os.Readlink(at)
		if err != nil {
			return inFolder(path, at)
		}
		if !filepath.IsAbs(to) {
			folder, _ := filepath.Split(at) // filepath.Join would drop a folder before ".."
			to = folder + to
		}
		at = to
	}
	return "", fmt.Errorf("%s is a link that leads back to itself, or over too many links: remove it, or name another file", path)
}

// inFolder returns the path of a missing file, without links to its folder.
func inFolder(path, missing string) (string, error) {
	folder, name := filepath.Split(missing)
	if folder == "" {
		return missing, nil
	}
	found, err := filepath.EvalSymlinks(folder)
	switch {
	case err == nil:
		return filepath.Join(found, name), nil
	case missing == path:
		return path, nil // whoever makes the file reports the error
	}
	return "", fmt.Errorf("%s is a link to %s, whose folder cannot be reached: make that folder, or remove the link", path, missing)
}
