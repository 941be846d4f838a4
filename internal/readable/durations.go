package readable

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration writes a duration with about two digits that matter: "340ms", "4.2s",
// "17s", "1m03s", "2h05m".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0ms"
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%dms", d.Round(time.Millisecond).Milliseconds())
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	// Rounded first, or 59.7 s would become "60s".
	return WholeSeconds(d.Round(time.Second))
}

// WholeSeconds writes a duration that is a number of seconds: "17s", "1m03s", "2h05m".
func WholeSeconds(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}

// Rate writes a rate: "812/s", "4.2/s", "24/min". A rate that is not positive is unknown: "–/s".
func Rate(perSecond float64) string {
	switch {
	case perSecond <= 0 || math.IsNaN(perSecond) || perSecond > 1e15:
		return "–/s"
	case perSecond < 0.95:
		return strconv.FormatFloat(perSecond*60, 'f', 0, 64) + "/min"
	case perSecond < 9.95:
		return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
	}
	return Number(int64(math.Round(perSecond))) + "/s"
}
