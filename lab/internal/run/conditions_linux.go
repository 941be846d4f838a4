package run

import (
	"os"
	"strings"
)

func readMachine() machine {
	return machine{cpu: cpuName(), kernel: firstWords("/proc/sys/kernel/osrelease", 1), load: firstWords("/proc/loadavg", 1)}
}

func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// firstWords returns the first n words of a file, "" if the file cannot be read.
func firstWords(file string, n int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	words := strings.Fields(string(text))
	return strings.Join(words[:min(n, len(words))], " ")
}
