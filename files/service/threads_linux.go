package service

import (
	"os"
	"strconv"
	"strings"
)

// osThreads counts this process's system threads, including those of the kernel and of C.
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
