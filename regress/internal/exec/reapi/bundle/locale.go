package bundle

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// The locale of cases: the names of its folder in C libraries, and the folders with locales.
const (
	localeName   = "C.utf8"
	localesHere  = "/usr/lib/locale"
	localeFolder = toolFolder + "/locale"
)

// takeLocale adds the data of the locale of cases. Without them a character is a byte to a
// bundled tool. Newer C libraries have the locale built in, and no such folder.
func (m *making) takeLocale() error {
	root := filepath.Join(localesHere, localeName)
	if _, err := os.Stat(root); err != nil {
		return nil // the tool has it built in, or this machine lacks it
	}
	m.locale = true
	return filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(at, err)
		}
		below, err := filepath.Rel(localesHere, at)
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return m.add(item{path: path.Join(localeFolder, filepath.ToSlash(below)), source: at})
	})
}

// LocalePath returns the value of LOCPATH for the locale that travels, or "" if none does.
func (b *Bundle) LocalePath() string {
	if !b.locale {
		return ""
	}
	return above + localeFolder
}
