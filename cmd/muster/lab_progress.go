package main

import (
	"fmt"
	"time"

	"muster/lab"
)

// progressLine formats the progress of a run. It is drawn only between measurements, so that
// it does not disturb them.
func progressLine(p lab.Progress) string {
	if p.Total == 0 || p.Next == "" {
		return p.Next
	}
	left := ""
	if p.Left >= 0 {
		left = fmt.Sprintf(", %v left", p.Left.Round(time.Second))
	}
	return fmt.Sprintf("%d of %d%s: %s", p.Done, p.Total, left, p.Next)
}
