package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// A scale is the part of an axis that is drawn and where its ticks are.
type scale struct {
	min, max float64
	ticks    []plot.Tick
}

const (
	ticksWanted  = 6
	decadeLabels = 8
	powersOfTwo  = 12
)

// barsBelow is how far below the least value bars begin on a logarithmic axis, as a factor: a bar of no length would
// look like a value of 0.
const barsBelow = 3

// newScale chooses a scale that shows all values. values has at least one element. If they are bars, a logarithmic
// scale begins below the least of them.
func newScale(a Axis, values []float64, zero, bars bool) scale {
	low, high := slices.Min(values), slices.Max(values)
	if a.Log && bars {
		low /= barsBelow
	}
	if a.Log {
		return logScale(low, high, values)
	}
	return linearScale(low, high, zero)
}

// linearScale returns a scale from tick to tick if it includes 0, and from the least to the
// greatest value otherwise.
func linearScale(low, high float64, zero bool) scale {
	if zero {
		low, high = min(low, 0), max(high, 0)
	}
	// A range that is tiny compared with its ends has no room for ticks.
	if size := max(math.Abs(low), math.Abs(high)); high-low <= 1e-9*size {
		low, high = low-size/2, high+size/2
	}
	switch {
	case low == high && zero: // both are 0, as numbers of failures often are
		high = 1
	case low == high:
		low, high = low-1, high+1
	}
	step := niceStep((high - low) / ticksWanted)
	if zero {
		low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	}
	s := scale{min: low, max: high}
	for i := math.Ceil(low / step); i*step <= high; i++ {
		s.ticks = append(s.ticks, plot.Tick{Value: i * step, Label: tickLabel(i * step)})
	}
	return s
}

// niceStep returns the least number of 1, 2 or 5 times a power of ten that is not below v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= v {
			return digit * power
		}
	}
	return 10 * power
}

func logScale(low, high float64, values []float64) scale {
	if low == high {
		low, high = low/2, high*2
	}
	for _, choice := range []struct {
		ticks  []plot.Tick
		labels int // at least
	}{{twoTicks(low, high, values), 2}, {decadeTicks(low, high), 3}, {digitTicks(low, high), 2}} {
		if countLabels(choice.ticks) >= choice.labels {
			return scale{low, high, choice.ticks}
		}
	}
	return scale{low, high, linearScale(low, high, false).ticks}
}

func countLabels(ticks []plot.Tick) (n int) {
	for _, t := range ticks {
		if t.Label != "" {
			n++
		}
	}
	return n
}

// twoTicks labels powers of two, if all values are powers of two, such as numbers of
// processors.
func twoTicks(low, high float64, values []float64) []plot.Tick {
	for _, v := range values {
		if fraction, _ := math.Frexp(v); fraction != 0.5 || v < 1 || v > 1<<20 {
			return nil
		}
	}
	var ticks []plot.Tick
	every := 1 + int(math.Log2(high/low))/powersOfTwo
	for i, v := 0, math.Exp2(math.Ceil(math.Log2(low))); v <= high; i, v = i+1, 2*v {
		t := plot.Tick{Value: v}
		if i%every == 0 {
			t.Label = tickLabel(v)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// decadeTicks labels powers of ten.
func decadeTicks(low, high float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Floor(math.Log10(high)))
	every := 1 + (last-first)/decadeLabels
	var ticks []plot.Tick
	add := func(v float64, label string) {
		if v >= low && v <= high {
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	for n := first; n <= last; n++ {
		if n%every != 0 {
			add(math.Pow10(n), "")
			continue
		}
		add(math.Pow10(n), powerOfTen(n))
		for digit := 2.0; digit < 10 && every == 1; digit++ {
			add(digit*math.Pow10(n), "")
		}
	}
	return ticks
}

// digitTicks labels 1, 2 and 5 times the powers of ten.
func digitTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for n := int(math.Floor(math.Log10(low))); n <= int(math.Floor(math.Log10(high))); n++ {
		for digit := 1.0; digit < 10; digit++ {
			v := digit * math.Pow10(n)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if digit == 1 || digit == 2 || digit == 5 {
				t.Label = tickLabel(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// powerOfTen returns 10ⁿ as people write it. Small powers use the form 1e-6, because fonts may
// lack a raised minus sign.
func powerOfTen(n int) string {
	switch {
	case n < -4:
		return "1e" + strconv.Itoa(n)
	case n < 2:
		return tickLabel(math.Pow10(n))
	}
	return "10" + superscript.Replace(strconv.Itoa(n))
}

var superscript = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// tickDigits suffices for the ticks between any two values that differ in the sixth digit.
const tickDigits = 7

func tickLabel(v float64) string { return Number(v, tickDigits) }

// Number formats v with at most digits significant digits, as charts label their ticks: 0.25,
// 1,000,000, 2·10⁹ or 3e-7.
func Number(v float64, digits int) string {
	size := math.Abs(v)
	if v != 0 && (size < 1e-4 || size >= 1e7) {
		return formatScientific(v, digits)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil || math.IsNaN(rounded) {
		return "?"
	}
	whole, fraction, dotted := strings.Cut(strconv.FormatFloat(math.Abs(rounded), 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + fraction
	}
	if rounded < 0 {
		whole = "−" + whole
	}
	return whole
}

func formatScientific(v float64, digits int) string {
	mantissa, power, found := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	n, err := strconv.Atoi(power)
	if !found || err != nil {
		return "∞"
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	mantissa = strings.Replace(mantissa, "-", "−", 1)
	switch {
	case mantissa == "1":
		return powerOfTen(n)
	case n < 0:
		return mantissa + "e" + strconv.Itoa(n)
	}
	return mantissa + "·" + powerOfTen(n)
}
