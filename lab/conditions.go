package lab

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// conditions are those under which this process measures.
func conditions(version string) []Pair {
	c := []Pair{
		{"goos", runtime.GOOS}, {"goarch", runtime.GOARCH}, {"go", runtime.Version()}, {"cgo", cgo()},
		{"cpus", strconv.Itoa(runtime.NumCPU())}, {"goenv", goEnvironment()},
	}
	m := machineHere()
	for _, p := range []Pair{{"cpu", m.cpu}, {"kernel", m.kernel}, {"load", m.load}, {"muster", version}} {
		if p.Value != "" {
			c = append(c, p)
		}
	}
	return c
}

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
func sameConditions(was, is []Pair) error {
	for _, now := range is {
		i := slices.IndexFunc(was, func(p Pair) bool { return p.Key == now.Key })
		switch {
		case now.Key == "load":
		case i < 0:
			return inputf("what an earlier run left does not say under which %s: measure anew", now.Key)
		case was[i].Value != now.Value:
			return inputf("an earlier run measured with %s %s, this one has %s: measure anew", now.Key, was[i].Value, now.Value)
		}
	}
	return nil
}
