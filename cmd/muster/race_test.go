//go:build race

package main_test

// race is set where the tests themselves are watched: the program then is too.
const race = true
