//go:build race

package pool_test

// raceDetector shortens tests: with the race detector a task takes many times as long.
const raceDetector = true
