package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// findJDK returns the folder of a JDK. It prefers JAVA_HOME if that is new enough, then the
// newest JDK. A machine's second JDK is usually not in PATH.
func findJDK(least int) (home string, err error) {
	return chooseJDK(os.Getenv("JAVA_HOME"), installedJDKs(), least)
}

// installedJDKs lists possible folders of JDKs: that of the javac in PATH, and those where
// systems install them.
func installedJDKs() (homes []string) {
	if javac, err := exec.LookPath("javac"); err == nil {
		if real, err := filepath.EvalSymlinks(javac); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(real)))
		}
	}
	for _, pattern := range []string{"/usr/lib/jvm/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home"} {
		found, _ := filepath.Glob(pattern) // fails only for a malformed pattern
		homes = append(homes, found...)
	}
	return homes
}

func chooseJDK(wanted string, homes []string, least int) (string, error) {
	if wanted != "" && jdkVersion(wanted) >= least {
		return wanted, nil
	}
	best, newest := "", 0
	for _, home := range homes {
		if v := jdkVersion(home); v > newest {
			best, newest = home, v
		}
	}
	switch {
	case newest >= least:
		return best, nil
	case newest == 0:
		return "", fmt.Errorf("no JDK of version %d or later in JAVA_HOME, in PATH or in /usr/lib/jvm", least)
	}
	return "", fmt.Errorf("no JDK of version %d or later in JAVA_HOME, in PATH or in /usr/lib/jvm: the newest is %d", least, newest)
}

// jdkVersion reads the version from the file that every JDK has. It returns 0 if home is not a
// JDK.
func jdkVersion(home string) int {
	if _, err := os.Stat(filepath.Join(home, "bin", "javac")); err != nil {
		return 0
	}
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(release)) {
		if quoted, ok := strings.CutPrefix(line, "JAVA_VERSION="); ok {
			major, _, _ := strings.Cut(strings.Trim(quoted, "\"\n"), ".")
			n, _ := strconv.Atoi(major)
			return n
		}
	}
	return 0
}
