package run

import (
	"os"
	"strings"
)

func machineHere() machine {
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

// firstWords returns the first words of a file; empty if it cannot be read.
func firstWords(file string, n int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	words := strings.Fields(string(text))
	return strings.Join(words[:min(n, len(words))], " ")
}
