package plot_test

import (
	"math"

	"muster/internal/plot"
)

// portions resembles the articles' picture of a channel: seconds per portion of 100,000
// items against GOMAXPROCS.
func portions() plot.Chart {
	line := func(name string, first, second, gain float64) plot.Line {
		l := plot.Line{Name: name}
		for i := range 9 {
			y := first
			if i > 0 {
				y = second * math.Pow(gain, float64(i-1))
			}
			l.Points = append(l.Points, plot.Point{X: math.Exp2(float64(i)), Y: y, Low: y * 0.95, High: y * 1.08})
		}
		return l
	}
	return plot.Chart{
		Title: "Channel: time per portion of 100,000 items",
		X:     plot.Axis{Label: "GOMAXPROCS", Log: true},
		Y:     plot.Axis{Label: "seconds per portion"},
		Lines: []plot.Line{
			line("no ballast", 0.011, 0.024, 0.985), line("10 cycles", 0.013, 0.025, 0.985),
			line("100 cycles", 0.022, 0.029, 0.98), line("1000 cycles", 0.11, 0.066, 0.99),
		},
	}
}

// ratios resembles their picture of goroutines: how many times a call a goroutine costs,
// against how many are alive.
func ratios() plot.Chart {
	c := plot.Chart{
		Title: "What a goroutine costs: time in goroutines ÷ time in a loop",
		X:     plot.Axis{Label: "goroutines alive", Log: true},
		Y:     plot.Axis{Label: "goroutine ÷ loop", Log: true},
	}
	for i, name := range []string{"1 square root", "10 square roots", "100 square roots", "1000 square roots", "5000 square roots"} {
		l := plot.Line{Name: name}
		over := 300 / math.Pow(8, float64(i))
		for k, x := range []float64{1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6} {
			y := 1 + over*(1+0.12*float64(k))
			l.Points = append(l.Points, plot.Point{X: x, Y: y, Low: y * 0.9, High: y * 1.15})
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}
