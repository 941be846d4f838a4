package report

import "math"

// finite returns x, or 0 for what no reader of numbers takes.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
