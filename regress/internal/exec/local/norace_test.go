//go:build !race

package local

// underRace says that the race detector is on, which takes memory in every process.
const underRace = false
