package reuse

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes this machine and its user, as far as a program may depend on them: some programs
// choose their code by the processor, or start a thread for each.
func Machine() map[string]string {
	host, _ := os.Hostname() // "" is one, too
	groups, _ := os.Getgroups()
	return map[string]string{
		"the user":       fmt.Sprint(os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid(), groups),
		"the host":       host,
		"the kernel":     runtime.GOOS + " " + runtime.GOARCH + " " + firstBytes("/proc/sys/kernel/osrelease"),
		"the processors": fmt.Sprint(runtime.NumCPU()) + " " + processor(firstBytes("/proc/cpuinfo")),
		"the ulimits":    firstBytes("/proc/self/limits"),
	}
}

// firstBytes returns a file of the kernel, or "" where there is none.
func firstBytes(file string) string {
	text, _ := os.ReadFile(file) // on another system the others count
	return string(text)
}

// processor returns the description of the first processor, without what changes all the time.
func processor(cpuinfo string) string {
	first, _, _ := strings.Cut(cpuinfo, "\n\n")
	var lines []string
	for line := range strings.Lines(first) {
		key, _, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "cpu MHz", "bogomips", "BogoMIPS", "processor", "core id", "apicid", "initial apicid", "physical id":
		default:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
