//go:build race

package main_test

// race is set if the race detector watches the tests. Then it watches the program too.
const race = true
