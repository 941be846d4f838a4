package lab

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"muster/internal/cgroup"
	"muster/lab/probe"
	"muster/lab/results"
)

// Keys of conditions that reports use. The value of procsKey is the number of processors that
// this program may use, which a container's quota may reduce. The value of quotaKey is the number
// of processors whose time the quota allows, such as "1.5", or noQuota. The value of memoryKey is
// the machine's memory, such as "25.3 GB"; the condition is absent if the memory is unknown.
const (
	procsKey  = "procs"
	quotaKey  = "quota"
	memoryKey = "memory"
)

// loadKey is the key of the load average of the minute before the first measurement. It is the
// only condition that may differ between a run and its continuation.
const loadKey = "load"

// noQuota is the value of quotaKey without a quota.
const noQuota = "none"

// quotaText formats a number of processors for a condition.
func quotaText(processors float64) string {
	if math.IsInf(processors, 1) {
		return noQuota
	}
	return strconv.FormatFloat(processors, 'g', 4, 64)
}

// memoryText formats a number of bytes for a condition.
func memoryText(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(bytes)/1e9, 'f', 1, 64) + " GB"
}

// processors returns how many processors a process without GOMAXPROCS may use. Trials run
// without the caller's GOMAXPROCS.
func processors() int {
	if os.Getenv("GOMAXPROCS") == "" {
		return runtime.GOMAXPROCS(0)
	}
	callers := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(callers)
	runtime.SetDefaultGOMAXPROCS()
	return runtime.GOMAXPROCS(0)
}

// currentConditions returns the conditions of this process.
func currentConditions(version string) []results.Pair {
	all := []results.Pair{
		{Key: "goos", Value: runtime.GOOS},
		{Key: "goarch", Value: runtime.GOARCH},
		{Key: "go", Value: runtime.Version()},
		{Key: "cgo", Value: cgoSetting()},
		{Key: "cpus", Value: strconv.Itoa(runtime.NumCPU())},
		{Key: procsKey, Value: strconv.Itoa(processors())},
		{Key: quotaKey, Value: quotaText(cgroup.ProcessorsQuota("/proc"))},
		{Key: memoryKey, Value: memoryText(probe.MemoryTotal())},
		{Key: "goenv", Value: goEnvironment()},
		{Key: "cpu", Value: cpuName()},
		{Key: "kernel", Value: firstWord("/proc/sys/kernel/osrelease")},
		{Key: loadKey, Value: firstWord("/proc/loadavg")},
		{Key: "muster", Value: version},
	}
	return slices.DeleteFunc(all, func(p results.Pair) bool { return p.Value == "" })
}

// goEnvironment returns the caller's variables that change Go's runtime in trials. It omits
// GOMAXPROCS, which trials do not inherit.
func goEnvironment() string {
	var set []string
	for _, name := range []string{"GODEBUG", "GOGC", "GOMEMLIMIT"} {
		if value := os.Getenv(name); value != "" {
			set = append(set, name+"="+strings.Join(strings.Fields(value), " "))
		}
	}
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(set, " ")
}

// cpuName returns the name of the processor. It is "" on systems other than Linux, which report
// it only through other programs.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// firstWord returns the first word of a file, "" if the file cannot be read.
func firstWord(file string) string {
	text, _ := os.ReadFile(file)
	for word := range strings.FieldsSeq(string(text)) {
		return word
	}
	return ""
}

// cgoSetting returns the build's value of CGO_ENABLED.
func cgoSetting() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" {
			return s.Value
		}
	}
	return "unknown"
}

// checkConditions fails if a condition differs from that of an earlier run. It ignores the
// load.
func checkConditions(was, is []results.Pair) error {
	for _, now := range is {
		i := slices.IndexFunc(was, func(p results.Pair) bool { return p.Key == now.Key })
		switch {
		case now.Key == loadKey:
		case i < 0:
			return inputf("the earlier run did not record %s, so its figures cannot be reused: measure again without them", now.Key)
		case was[i].Value != now.Value:
			return inputf("an earlier run measured with %s %s, this one has %s: measure again without its figures", now.Key, was[i].Value, now.Value)
		}
	}
	return nil
}
