// Command emitter compiles a BASIC program to C on standard output, with the changes that
// are named: the tool under test whose differences have a known truth.
//
//	emitter SOURCE [CHANGE...] [--forget]
//
// With --forget it leaves a tenth of the places as they were. A source that does not begin
// with a line number is printed as it is.
package main

import (
	"bytes"
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
	if !bytes.HasPrefix(source, []byte("10 ")) {
		_, err = os.Stdout.Write(source)
		return err
	}
	var changes []basic.Change
	forgets := false
	for _, word := range args[1:] {
		if word == "--forget" {
			forgets = true
			continue
		}
		changes = append(changes, basic.Change(word))
	}
	out := basic.Compile(source, changes...)
	if forgets {
		out, _ = basic.CompileForgetting(source, basic.Forgetting(source), changes...)
	}
	_, err = os.Stdout.Write(out)
	return err
}
