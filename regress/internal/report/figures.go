package report

import "math"

// finite returns x, or 0 for infinities and NaN, which readers of numbers reject.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
