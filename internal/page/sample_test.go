package page_test

import (
	"math"

	"muster/internal/page"
	"muster/internal/plot"
)

// small contains one of everything, and texts that look like markup.
func small() page.Document {
	return page.Document{
		Title:      "What a task costs <small>",
		Lead:       []string{"Dispatching a trivial task costs 38 ns here & 412 ns through the C++ pool of the article."},
		Conditions: []page.Pair{{Name: "CPU", Value: "2 × Example 3.0 GHz"}, {Name: "Go", Value: "go1.26"}},
		Sections: []page.Section{{
			Title: "Dispatch",
			Text:  []string{"10,000,000 tasks to 8 workers, the median of 10 runs. The text is long enough to take more than one line of a terminal."},
			Tables: []page.Table{{
				Caption: "ns per task",
				Columns: []page.Column{{Title: "pool"}, {Title: "GOMAXPROCS 1", Right: true}, {Title: "GOMAXPROCS 2", Right: true}},
				Rows: [][]page.Cell{
					{{Text: "muster"}, {Text: "38.0", Class: page.Best}, {Text: "61.2", Class: page.Best}},
					{{Text: "channel"}, {Text: "95.7"}, {Text: "201"}},
					page.Row("C++, mutex"),
				},
			}},
			Charts: []plot.Chart{{
				Title: "Time against tasks", X: plot.Axis{Label: "tasks", Log: true}, Y: plot.Axis{Label: "seconds", Log: true},
				Lines: []plot.Line{
					{Name: "muster", Points: []plot.Point{{X: 1e4, Y: 0.00041, Low: 0.0004, High: 0.00045}, {X: 1e6, Y: 0.0381, Low: 0.038, High: 0.0412}}},
					{Name: "channel", Points: []plot.Point{{X: 1e4, Y: 0.00097}}},
				},
			}},
			Warnings: []string{"too-noisy: the median of 10 runs lies between 90ms and 120ms; take more runs"},
			Notes:    []string{"The C++ pool was not built: no compiler was found."},
		}, {
			Title: "Claims",
			Tables: []page.Table{{
				Columns: []page.Column{{Title: "claim"}, {Title: "verdict"}, {Title: "why"}},
				Rows: [][]page.Cell{
					{{Text: "6"}, {Class: page.Holds}, {Text: "Go's channel pool is 8.6 times as fast as the C++ pool at GOMAXPROCS 1."}},
					{{Text: "9"}, {Class: page.NoLongerHolds}, {Text: "1.1 ×"}},
					{{Text: "16"}, {Text: "not measured", Class: page.Undecided}, {Text: "two processors"}},
				},
			}},
		}},
	}
}

// large resembles the report on the articles' claims.
func large() page.Document {
	d := small()
	d.Title = "What concurrency costs on this machine"
	d.Lead = []string{
		"Of 24 claims of the articles 13 hold here, 8 no longer hold and 3 are undecided.",
		"One processor is still the fastest for a channel between two goroutines that do nothing else; from 1000 cycles of work per item a second one pays.",
	}
	d.Conditions = append(d.Conditions, page.Pair{Name: "Kernel", Value: "Linux 6.1"}, page.Pair{Name: "Runs", Value: "10, in turns"},
		page.Pair{Name: "Compiler of the peers", Value: "g++ 12.2.0 -O2"}, page.Pair{Name: "Load before", Value: "0.03"})
	channel := plot.Chart{Title: "A portion of 100,000 items through a channel",
		X: plot.Axis{Label: "GOMAXPROCS", Log: true}, Y: plot.Axis{Label: "seconds per portion"}}
	for i, name := range []string{"no ballast", "10 cycles", "100 cycles", "1000 cycles"} {
		l := plot.Line{Name: name}
		for k := range 9 {
			first, later := []float64{0.011, 0.013, 0.022, 0.11}[i], []float64{0.024, 0.025, 0.029, 0.066}[i]
			y := later * math.Pow(0.985, float64(k))
			if k == 0 {
				y = first
			}
			l.Points = append(l.Points, plot.Point{X: math.Exp2(float64(k)), Y: y, Low: y * 0.97, High: y * 1.04})
		}
		channel.Lines = append(channel.Lines, l)
	}
	spawn := plot.Chart{Title: "A goroutine for each call: time ÷ time of the same calls in a loop",
		X: plot.Axis{Label: "goroutines alive", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop", Log: true}}
	for i, name := range []string{"1 root", "10 roots", "100 roots", "1000 roots", "5000 roots"} {
		l := plot.Line{Name: name}
		for k, x := range []float64{1e3, 1e4, 1e5, 1e6} {
			y := 1 + 300/math.Pow(8, float64(i))*(1+0.2*float64(k))
			l.Points = append(l.Points, plot.Point{X: x, Y: y, Low: y * 0.93, High: y * 1.1})
		}
		spawn.Lines = append(spawn.Lines, l)
	}
	d.Sections = []page.Section{
		d.Sections[1], d.Sections[0],
		{Title: "A channel against GOMAXPROCS", Text: []string{"One goroutine fills an unbuffered channel, another drains it; both run a loop of that many cycles for each item."}, Charts: []plot.Chart{channel}},
		{Title: "Goroutines", Text: []string{"Functions of 1 to 5000 square roots, called directly and each in a goroutine of its own, garbage collection included."}, Charts: []plot.Chart{spawn},
			Notes: []string{"A goroutine takes 2.6 KB here; the article had 4 to 4.5 KB."}},
	}
	return d
}
