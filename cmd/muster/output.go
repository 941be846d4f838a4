package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
)

// checkFiles refuses files that could not be written. flags name them in errors.
func checkFiles(byFlag map[string]string) error {
	for flag, name := range byFlag {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return usagef("%s: %s is a folder: name a file", flag, name)
		}
		if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
			return usagef("%s: there is no folder %s: make it, or name another", flag, filepath.Dir(name))
		}
	}
	return nil
}

// writePage writes a file whole. If the page cannot be made, it writes nothing.
func writePage(name string, html func(io.Writer) error) error {
	var page bytes.Buffer
	if err := html(&page); err != nil {
		return err
	}
	return os.WriteFile(name, page.Bytes(), 0o644)
}
