package service

import (
	"os"
	"strconv"
	"strings"
)

// osThreads is how many threads of the system this process has now, those that the kernel
// or C started for it among them.
func osThreads() int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nThreads:")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}
