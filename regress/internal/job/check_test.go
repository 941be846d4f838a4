package job

import (
	"muster/regress"
	"strings"
	"testing"
	"time"
)

// sound are options that mean something to every command.
func sound() regress.Options {
	return regress.Options{
		Limits: regress.Limits{Jobs: 2, Timeout: regress.TimeoutDefault, OutputMax: regress.OutputMaxDefault},
		Judge:  regress.CompareOptions{Repeat: 2, Retries: 2},
	}
}

func TestValid(t *testing.T) {
	for _, c := range []struct {
		change func(*regress.Options)
		flag   string
	}{
		{func(o *regress.Options) { o.Limits.Jobs = -1 }, "--jobs -1"},
		{func(o *regress.Options) { o.Limits.Timeout = -time.Second }, "--timeout -1s"},
		{func(o *regress.Options) { o.Limits.OutputMax = -1 }, "--output-max -1"},
		{func(o *regress.Options) { o.Judge.Repeat = 0 }, "--repeat 0"},
		{func(o *regress.Options) { o.Judge.RepeatAfter = -time.Second }, "--repeat-after -1s"},
		{func(o *regress.Options) { o.Judge.Retries = -1 }, "--retries -1"},
		{func(o *regress.Options) { o.Select.FailFast = -1 }, "--fail-fast -1"},
		{func(o *regress.Options) { o.Judge.Allow = []string{"new", "crashed"} }, `--allow "crashed"`},
		{func(o *regress.Options) { o.Judge.Allow = []string{""} }, `--allow ""`},
		{func(o *regress.Options) { o.Command.Env = []string{"A=1", "B"} }, `--env "B"`},
		{func(o *regress.Options) { o.Command.Env = []string{"=1"} }, `--env "=1"`},
	} {
		o := sound()
		c.change(&o)
		err := check(&o, "record")
		if regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), c.flag+":") {
			t.Errorf("%s is met by: %v", c.flag, err)
		}
	}
}

// What a command does not take must not be in its way.
func TestBoundsOfCommands(t *testing.T) {
	o := sound()
	o.Limits.Jobs, o.Command.Env = 0, []string{"EMPTY=", "EQUALS=a=b"}
	for _, command := range []string{"record", "check", "compare", "run", "cases", "diff"} {
		if err := check(&o, command); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	var none regress.Options
	for command, want := range map[string]regress.Class{
		"cases": regress.None, "diff": regress.None, "run": regress.None, "check": regress.None, "record": regress.Input,
	} {
		if got := regress.ClassOf(check(&none, command)); got != want {
			t.Errorf("%s without any option: class %v, want %v", command, got, want)
		}
	}
}
