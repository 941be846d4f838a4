package rule

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// BenchmarkRules learns and checks the rules of nine changes in 15,000 cases. Two of them are not uniform: where an insertion
// of one meets that of another, both are one edit, and a cause of its own.
func BenchmarkRules(b *testing.B) {
	const cases = 15_000
	var old, now []string
	for i := range uint64(cases) {
		// two programs each, so that about 20 lines change
		old = append(old, plant(i, nil)+plant(i+cases, nil))
		now = append(now, plant(i, func(int) bool { return true })+plant(i+cases, func(int) bool { return true }))
	}
	texts, found := analyse(old, now)
	size, lines := 0, 0
	for i := range old {
		size += len(old[i])
	}
	for _, c := range found.Causes {
		lines += c.Lines
	}
	base := heapInUse()
	peak, stop := base, make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				peak = max(peak, liveHeap())
			case <-stop:
				return
			}
		}
	}()
	b.ResetTimer()
	for range b.N {
		var budget Budget
		var rules []*Rule
		for i := range found.Causes {
			var changed []Text
			size := 0
			for j, t := range texts {
				if m := &found.Members[j]; size < 512<<10 && Trains(t.Name) && hasCause(m.Causes, i) {
					changed, size = append(changed, t), size+len(t.Old)
				}
			}
			rules = append(rules, Learn(i, changed, nil, &budget))
		}
		b.Logf("%d steps to learn", budget.steps)
		book := NewBook(rules, &budget)
		for j := range texts {
			book.Changed(texts[j].Name, texts[j:j+1], found.Members[j].Causes)
		}
		b.Logf("%d steps in all", budget.steps)
		names := []string{}
		for i := range rules {
			if r := book.Result(i); r != nil && r.Uniform {
				names = append(names, found.Causes[i].Name)
			}
		}
		b.Logf("uniform: %s", strings.Join(names, ", "))
	}
	close(stop)
	<-ended
	b.ReportMetric(float64(peak-base), "rules-bytes") // with garbage
	b.ReportMetric(float64(base), "texts-bytes")      // with the analysis of causes
	b.ReportMetric(float64(lines), "lines")
	b.ReportMetric(float64(size), "old-bytes")
}

// heapInUse returns the bytes of the heap without garbage.
func heapInUse() uint64 {
	runtime.GC()
	return liveHeap()
}

func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func hasCause(causes []int, index int) bool {
	for _, c := range causes {
		if c == index {
			return true
		}
	}
	return false
}
