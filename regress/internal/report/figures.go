package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"muster/internal/readable"
)

// human writes a duration with about two digits that matter: "340ms", "4.2s",
// "17s", "1m03s", "2h05m".
func human(d time.Duration) string {
	switch {
	case d < 0:
		return "0ms"
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%dms", d.Round(time.Millisecond).Milliseconds())
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	// Rounded first, or 59.7 s would become "60s".
	return wholeSeconds(d.Round(time.Second))
}

func wholeSeconds(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}

// perTime writes a rate: "812/s", "4.2/s", "24/min". Not positive is unknown.
func perTime(perSecond float64) string {
	switch {
	case perSecond <= 0 || math.IsNaN(perSecond) || perSecond > 1e15:
		return "–/s"
	case perSecond < 0.95:
		return strconv.FormatFloat(perSecond*60, 'f', 0, 64) + "/min"
	case perSecond < 9.95:
		return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
	}
	return readable.Number(int64(math.Round(perSecond))) + "/s"
}

// finite returns x, or 0 for what no reader of numbers takes.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
