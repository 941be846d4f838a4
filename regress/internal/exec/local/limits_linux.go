package local

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"muster/regress/lane"
)

// limitRule is the limit of one resource that cases get on every machine. A tool may print its limits.
type limitRule struct {
	name string // of prlimit(1)
	lane.Limit
}

const unlimited = unix.RLIM_INFINITY

// limitRules are the limits that Linux and its distributions usually give. Those on processes, signals and locked
// memory grow with the memory of the machine; here they are what small machines have. A core file would count
// as an output.
var limitRules = [...]limitRule{
	{"nofile", lane.Limit{Resource: unix.RLIMIT_NOFILE, Soft: 1024, Hard: 4096}},
	{"nproc", lane.Limit{Resource: unix.RLIMIT_NPROC}}, // see processLimit
	{"stack", lane.Limit{Resource: unix.RLIMIT_STACK, Soft: 8 << 20, Hard: unlimited}},
	{"core", lane.Limit{Resource: unix.RLIMIT_CORE}},
	{"memlock", lane.Limit{Resource: unix.RLIMIT_MEMLOCK, Soft: 64 << 10, Hard: 64 << 10}},
	{"sigpending", lane.Limit{Resource: unix.RLIMIT_SIGPENDING, Soft: 2048, Hard: 2048}},
	{"msgqueue", lane.Limit{Resource: unix.RLIMIT_MSGQUEUE, Soft: 819_200, Hard: 819_200}},
	{"nice", lane.Limit{Resource: unix.RLIMIT_NICE}},
	{"rtprio", lane.Limit{Resource: unix.RLIMIT_RTPRIO}},
	{"rttime", lane.Limit{Resource: unix.RLIMIT_RTTIME, Soft: unlimited, Hard: unlimited}},
	{"cpu", lane.Limit{Resource: unix.RLIMIT_CPU, Soft: unlimited, Hard: unlimited}},
	{"fsize", lane.Limit{Resource: unix.RLIMIT_FSIZE, Soft: unlimited, Hard: unlimited}},
	{"data", lane.Limit{Resource: unix.RLIMIT_DATA, Soft: unlimited, Hard: unlimited}},
	{"rss", lane.Limit{Resource: unix.RLIMIT_RSS, Soft: unlimited, Hard: unlimited}},
	{"as", lane.Limit{Resource: unix.RLIMIT_AS, Soft: unlimited, Hard: unlimited}},
	{"locks", lane.Limit{Resource: unix.RLIMIT_LOCKS, Soft: unlimited, Hard: unlimited}},
}

// chooseLimits chooses the limits of cases: those of the rules, or lower ones that this process has. It warns of
// the latter.
func (c *Crew) chooseLimits() {
	var texts, lower []string
	for _, rule := range limitRules {
		if rule.Resource == unix.RLIMIT_NPROC {
			rule.Soft, rule.Hard = c.processLimit(), c.processLimit()
		}
		given := rule
		var own unix.Rlimit
		if unix.Getrlimit(rule.Resource, &own) == nil {
			if rule.Resource == unix.RLIMIT_NOFILE {
				own.Cur = own.Max // Go's runtime may have raised the soft limit
			}
			given.Soft, given.Hard = min(rule.Soft, own.Cur), min(rule.Hard, own.Max)
		}
		if given.Soft != own.Cur || given.Hard != own.Max || rule.Resource == unix.RLIMIT_NOFILE {
			c.limits = append(c.limits, given.Limit)
		}
		if given.Soft != unlimited {
			texts = append(texts, given.String())
		}
		if given != rule {
			lower = append(lower, fmt.Sprintf("%s instead of %s", given, rule.value()))
		}
	}
	c.limitsText = strings.Join(texts, " ")
	if len(lower) > 0 {
		c.o.Warn("your limits (ulimit) are lower than the usual limits of cases, so cases get yours: " + strings.Join(lower, ", ") + "; raise them, or a tool may behave differently here")
	}
}

// String returns the limit as prlimit(1) takes it, without dashes.
func (l limitRule) String() string { return l.name + "=" + l.value() }

func (l limitRule) value() string {
	text := func(n uint64) string {
		if n == unlimited {
			return "unlimited"
		}
		return fmt.Sprint(n)
	}
	if l.Soft == l.Hard {
		return text(l.Soft)
	}
	return text(l.Soft) + ":" + text(l.Hard)
}
