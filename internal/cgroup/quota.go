package cgroup

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// ProcessorsQuota returns the processor time that all groups of this process allow, in processors, such as 1.5.
// It is infinite without a quota. Go's runtime takes the quota of the process's own group into
// account, but not those of its parents, and not quotas below 2.
func ProcessorsQuota(proc string) float64 {
	g := findGroups(proc, "cpu")
	quota := math.Inf(1)
	for _, dir := range g.folders {
		text, _ := os.ReadFile(dir + "/cpu.max")
		if g.version1 {
			most, _ := os.ReadFile(dir + "/cpu.cfs_quota_us")
			period, _ := os.ReadFile(dir + "/cpu.cfs_period_us")
			text = append(append(most, ' '), period...)
		}
		quota = min(quota, parseQuota(string(text)))
	}
	return quota
}

// parseQuota parses the time allowed in a period, and the period. Any word, such as "max", and
// a number below 0 mean that there is no quota.
func parseQuota(text string) float64 {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return math.Inf(1)
	}
	most, err1 := strconv.ParseFloat(fields[0], 64)
	period, err2 := strconv.ParseFloat(fields[1], 64)
	if err1 != nil || err2 != nil || !(most > 0) || !(period > 0) {
		return math.Inf(1)
	}
	return most / period
}
