package main

import (
	"os"
	"path/filepath"
)

// checkFiles refuses files that could not be written; flags name them.
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
