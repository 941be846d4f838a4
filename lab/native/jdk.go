package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// findJDK is the folder of the JDK that JAVA_HOME names, where it is new enough, else of
// the newest one: the second JDK of a machine is in nobody's PATH.
func findJDK(least int) (home string, err error) {
	return chooseJDK(os.Getenv("JAVA_HOME"), jdksInstalled(), least)
}

// jdksInstalled are the folders that may be JDKs: of the javac in PATH, and where systems
// put them.
func jdksInstalled() (homes []string) {
	if javac, err := exec.LookPath("javac"); err == nil {
		if real, err := filepath.EvalSymlinks(javac); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(real)))
		}
	}
	for _, pattern := range []string{"/usr/lib/jvm/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home"} {
		found, _ := filepath.Glob(pattern) // fails for a malformed pattern alone
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

// jdkVersion reads it from the file that every JDK has; 0 for what is no JDK.
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
