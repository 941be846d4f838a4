package reuse

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Machine describes this machine and the rights of this process, as far as a program may depend on them:
// some programs choose their code by the processor, or start a thread for each. The name of the host is
// left out.
func Machine() map[string]string {
	return map[string]string{
		"the rights":      linesOf(firstBytes("/proc/self/status"), isRight),
		"the kernel":      runtime.GOOS + " " + runtime.GOARCH + " " + firstBytes("/proc/version"),
		"the personality": firstBytes("/proc/self/personality"), // of setarch(8)
		"the processors":  fmt.Sprint(runtime.NumCPU()) + " " + processor(firstBytes("/proc/cpuinfo")),
		"the ulimits":     firstBytes("/proc/self/limits"),
		"the handlers":    filesIn("/proc/sys/fs/binfmt_misc"),
	}
}

// isRight reports whether a line of the status of a process says who its user is, or what it may do.
func isRight(key string) bool {
	switch key {
	case "Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed", "Mems_allowed":
		return true
	}
	return strings.HasPrefix(key, "Cap")
}

// firstBytes returns a file of the kernel, or "" where there is none.
func firstBytes(file string) string {
	text, _ := os.ReadFile(file) // on another system the others count
	return string(text)
}

// filesIn returns the names and contents of all files in a folder of the kernel.
func filesIn(folder string) (text string) {
	entries, _ := os.ReadDir(folder) // none where it is missing
	for _, e := range entries {
		text += e.Name() + "\n" + firstBytes(filepath.Join(folder, e.Name())) + "\n"
	}
	return text
}

// processor returns the description of the first processor, without what changes all the time.
func processor(cpuinfo string) string {
	first, _, _ := strings.Cut(cpuinfo, "\n\n")
	return linesOf(first, func(key string) bool {
		switch key {
		case "cpu MHz", "bogomips", "BogoMIPS", "processor", "core id", "apicid", "initial apicid", "physical id":
			return false
		}
		return true
	})
}

// linesOf returns the lines whose keys are wanted. A key ends at a colon.
func linesOf(text string, wants func(key string) bool) string {
	var lines []string
	for line := range strings.Lines(text) {
		key, _, _ := strings.Cut(line, ":")
		if wants(strings.TrimSpace(key)) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
