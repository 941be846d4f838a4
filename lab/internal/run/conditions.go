package run

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"muster/lab/probe"
	"muster/lab/results"
)

// Keys of conditions that reports use: how many processors this program may use at the
// same time, which a container's quota may make fewer than there are, and the machine's
// memory as in "25.3 GB", which is none where the system does not tell.
const (
	ProcsKey  = "procs"
	MemoryKey = "memory"
)

// memoryText is so many bytes as a condition has them.
func memoryText(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(bytes)/1e9, 'f', 1, 64) + " GB"
}

// Processors is how many a process may use at the same time that is started without a
// GOMAXPROCS, as trials are: the caller's is none of theirs.
func Processors() int {
	if os.Getenv("GOMAXPROCS") == "" {
		return runtime.GOMAXPROCS(0)
	}
	callers := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(callers)
	runtime.SetDefaultGOMAXPROCS()
	return runtime.GOMAXPROCS(0)
}

// conditions are those under which this process measures.
func conditions(version string) []results.Pair {
	m := machineHere()
	all := []results.Pair{
		{Key: "goos", Value: runtime.GOOS},
		{Key: "goarch", Value: runtime.GOARCH},
		{Key: "go", Value: runtime.Version()},
		{Key: "cgo", Value: cgo()},
		{Key: "cpus", Value: strconv.Itoa(runtime.NumCPU())},
		{Key: ProcsKey, Value: strconv.Itoa(Processors())},
		{Key: MemoryKey, Value: memoryText(probe.MemoryTotal())},
		{Key: "goenv", Value: goEnvironment()},
		{Key: "cpu", Value: m.cpu},
		{Key: "kernel", Value: m.kernel},
		{Key: loadKey, Value: m.load},
		{Key: "muster", Value: version},
	}
	return slices.DeleteFunc(all, func(p results.Pair) bool { return p.Value == "" })
}

// loadKey is of the one condition that is never as it was.
const loadKey = "load"

// goEnvironment are the variables of the caller's that Go's runtime obeys in what is started,
// but for GOMAXPROCS, which is none of the caller's there.
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

// machine is what the system tells of itself; empty where it does not.
type machine struct{ cpu, kernel, load string }

// cgo tells whether this program was built with it.
func cgo() string {
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

// sameConditions reports what is not as it was, but for the load, which never is.
func sameConditions(was, is []results.Pair) error {
	for _, now := range is {
		i := slices.IndexFunc(was, func(p results.Pair) bool { return p.Key == now.Key })
		switch {
		case now.Key == loadKey:
		case i < 0:
			return inputf("what an earlier run left does not say under which %s: measure anew", now.Key)
		case was[i].Value != now.Value:
			return inputf("an earlier run measured with %s %s, this one has %s: measure anew", now.Key, was[i].Value, now.Value)
		}
	}
	return nil
}
