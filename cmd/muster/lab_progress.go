package main

import (
	"fmt"

	"muster/internal/readable"
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
		left = ", " + readable.Duration(p.Left) + " left"
	}
	return fmt.Sprintf("%s of %s%s: %s", readable.Number(p.Done), readable.Number(p.Total), left, p.Next)
}
