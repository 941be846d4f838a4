package readable

import (
	"math"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0ms"}, {0, "0ms"}, {340 * time.Millisecond, "340ms"}, {999700 * time.Microsecond, "1.0s"},
		{4200 * time.Millisecond, "4.2s"}, {9949 * time.Millisecond, "9.9s"}, {9960 * time.Millisecond, "10s"},
		{17300 * time.Millisecond, "17s"}, {59700 * time.Millisecond, "1m00s"}, {63 * time.Second, "1m03s"},
		{3599600 * time.Millisecond, "1h00m"}, {125 * time.Minute, "2h05m"}, {30 * 24 * time.Hour, "720h00m"},
	} {
		if got := Duration(c.d); got != c.want {
			t.Errorf("Duration(%v) = %s, want %s", c.d, got, c.want)
		}
	}
}

func TestRate(t *testing.T) {
	for rate, want := range map[float64]string{
		0: "–/s", -1: "–/s", math.Inf(1): "–/s", 0.4: "24/min", 0.949: "57/min", 1: "1.0/s", 4.23: "4.2/s", 9.96: "10/s", 812.4: "812/s", 12345: "12,345/s",
	} {
		if got := Rate(rate); got != want {
			t.Errorf("Rate(%v) = %s, want %s", rate, got, want)
		}
	}
	if got := Rate(math.NaN()); got != "–/s" {
		t.Errorf("Rate(NaN) = %s", got)
	}
}
