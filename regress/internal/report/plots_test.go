package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
)

// scattered is the cost of n cases that take 1.1 times as long, more or less.
func scattered(n int) Cost {
	r := rand.New(rand.NewPCG(1, 2))
	c := Cost{Estimate: cost.Estimate{CPU: cost.Ratio{Value: 1.1, Low: 1.08, High: 1.12}}}
	for i := range n {
		old := time.Duration(3e6 * math.Exp(r.NormFloat64()))
		ratio := 1.1 * math.Exp(0.05*r.NormFloat64())
		if i%97 == 0 {
			ratio *= 1.6
		}
		c.Cases = append(c.Cases, cost.Case{Name: fmt.Sprint(i), CPU: ratio,
			Old: outcome.Cost{CPU: old}, New: outcome.Cost{CPU: time.Duration(float64(old) * ratio)}})
	}
	return c
}

func TestCostPlot(t *testing.T) {
	c := scattered(CostCasesMax)
	picture, err := costPlot(&c)
	if err != nil || len(picture) > 1<<20 {
		t.Fatalf("%d bytes, %v", len(picture), err)
	}
	for _, text := range []string{"old CPU time, ms", "new CPU time, ms", "old = new"} {
		if !strings.Contains(picture, ">"+text+"<") {
			t.Errorf("the picture does not say %q", text)
		}
	}
}

// What an events file says of a case need not make sense.
func TestCostPlotOfAnything(t *testing.T) {
	odd := scattered(3)
	odd.Cases[0].CPU, odd.Cases[1].CPU = 0, math.MaxFloat64
	odd.Cases[2].Old.CPU = 0
	odd.CPU = cost.Ratio{}
	for _, c := range []Cost{{}, odd, scattered(1), {Estimate: cost.Estimate{Cases: []cost.Case{{CPU: 1}}}}} {
		if _, err := costPlot(&c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
