//go:build !race

package main_test

const race = false
