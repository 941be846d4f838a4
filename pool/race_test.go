//go:build race

package pool_test

// Under the race detector a task costs many times as much.
const raceDetector = true
