package reuse

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// printsMachine makes the test binary print the name of this machine's setting.
const printsMachine = "MUSTER_TEST_PRINTS_MACHINE"

// Rights and limits that a program inherits make another setting.
func TestMachine(t *testing.T) {
	if os.Getenv(printsMachine) != "" {
		fmt.Println(Name(Machine()))
		return
	}
	names := map[string]string{}
	for _, wrapper := range []string{"env", "setarch -R", "setpriv --no-new-privs", "prlimit --nofile=512"} {
		words := append(strings.Fields(wrapper), os.Args[0], "-test.run=^TestMachine$")
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Env = append(os.Environ(), printsMachine+"=1")
		out, err := cmd.Output()
		must(t, err)
		name, _, _ := strings.Cut(string(out), "\n")
		if other, is := names[name]; is || !strings.HasSuffix(name, suffix) {
			t.Errorf("with %s it is %q, as with %q", wrapper, name, other)
		}
		names[name] = wrapper
	}
}
