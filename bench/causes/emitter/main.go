// Command emitter compiles a BASIC program to C on standard output, with the changes that
// are named: the tool under test whose differences have a known truth.
//
//	emitter SOURCE [CHANGE...]
package main

import (
	"fmt"
	"os"

	"muster/bench/causes/basic"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "emitter:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	source, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var changes []basic.Change
	for _, word := range args[1:] {
		changes = append(changes, basic.Change(word))
	}
	_, err = os.Stdout.Write(basic.Compile(source, changes...))
	return err
}
