package job

import (
	"strings"
	"testing"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/opt"
)

// sound are options that mean something to every command.
func sound() opt.Options {
	return opt.Options{
		Limits: opt.Limits{Jobs: 2, Timeout: opt.TimeoutDefault, Grace: opt.GraceDefault, OutputMax: opt.OutputMaxDefault},
		Judge:  opt.CompareOptions{Repeat: 2, Retries: 2},
	}
}

func TestValid(t *testing.T) {
	for _, c := range []struct {
		change func(*opt.Options)
		flag   string
	}{
		{func(o *opt.Options) { o.Limits.Jobs = -1 }, "--jobs -1"},
		{func(o *opt.Options) { o.Limits.Timeout = -time.Second }, "--timeout -1s"},
		{func(o *opt.Options) { o.Limits.Grace = -1 }, "--grace -1ns"},
		{func(o *opt.Options) { o.Limits.OutputMax = -1 }, "--output-max -1"},
		{func(o *opt.Options) { o.Judge.Repeat = 0 }, "--repeat 0"},
		{func(o *opt.Options) { o.Judge.Retries = -1 }, "--retries -1"},
		{func(o *opt.Options) { o.Select.FailFast = -1 }, "--fail-fast -1"},
		{func(o *opt.Options) { o.Judge.Allow = []string{"new", "crashed"} }, `--allow "crashed"`},
		{func(o *opt.Options) { o.Judge.Allow = []string{""} }, `--allow ""`},
		{func(o *opt.Options) { o.Command.Env = []string{"A=1", "B"} }, `--env "B"`},
		{func(o *opt.Options) { o.Command.Env = []string{"=1"} }, `--env "=1"`},
	} {
		o := sound()
		c.change(&o)
		err := check(&o, "record")
		if fault.ClassOf(err) != fault.Input || !strings.HasPrefix(err.Error(), c.flag+":") {
			t.Errorf("%s is met by: %v", c.flag, err)
		}
	}
}

// What a command does not take must not be in its way.
func TestBoundsOfCommands(t *testing.T) {
	o := sound()
	o.Limits.Grace, o.Limits.Jobs, o.Command.Env = 0, 0, []string{"EMPTY=", "EQUALS=a=b"}
	for _, command := range []string{"record", "check", "compare", "run", "cases", "diff"} {
		if err := check(&o, command); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	var none opt.Options
	for command, want := range map[string]fault.Class{
		"cases": fault.None, "diff": fault.None, "run": fault.None, "check": fault.None, "record": fault.Input,
	} {
		if got := fault.ClassOf(check(&none, command)); got != want {
			t.Errorf("%s without any option: class %v, want %v", command, got, want)
		}
	}
}
