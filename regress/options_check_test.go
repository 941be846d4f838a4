package regress

import (
	"strings"
	"testing"
	"time"

	"muster/regress/internal/fault"
)

// sound are options that mean something to every command.
func sound() Options {
	return Options{
		Limits: Limits{Jobs: 2, Timeout: TimeoutDefault, Grace: GraceDefault, OutputMax: OutputMaxDefault},
		Judge:  CompareOptions{Repeat: 2, Retries: 2},
	}
}

func TestValid(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		flag   string
	}{
		{func(o *Options) { o.Limits.Jobs = -1 }, "--jobs -1"},
		{func(o *Options) { o.Limits.Jobs = 1000 }, "--jobs 1000"},
		{func(o *Options) { o.Limits.Timeout = -time.Second }, "--timeout -1s"},
		{func(o *Options) { o.Limits.Grace = -1 }, "--grace -1ns"},
		{func(o *Options) { o.Limits.OutputMax = -1 }, "--output-max -1"},
		{func(o *Options) { o.Judge.Repeat = 0 }, "--repeat 0"},
		{func(o *Options) { o.Judge.Retries = -1 }, "--retries -1"},
		{func(o *Options) { o.Select.FailFast = -1 }, "--fail-fast -1"},
		{func(o *Options) { o.Judge.Allow = []string{"new", "crashed"} }, `--allow "crashed"`},
		{func(o *Options) { o.Judge.Allow = []string{""} }, `--allow ""`},
		{func(o *Options) { o.Command.Env = []string{"A=1", "B"} }, `--env "B"`},
		{func(o *Options) { o.Command.Env = []string{"=1"} }, `--env "=1"`},
		{func(o *Options) { o.Corpus.Path, o.Store.Golden = "a.tar", "./a.tar" }, "--golden ./a.tar"},
		{func(o *Options) { o.Store.Golden, o.Report.JUnit = "check.go", "../regress/check.go" }, "--junit ../regress/check.go"},
		{func(o *Options) { o.Report.JUnit, o.Report.Events = "new/x", "new/y/../x" }, "--events new/y/../x"},
	} {
		o := sound()
		c.change(&o)
		err := checkOptions(&o, "record")
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
		if err := checkOptions(&o, command); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	var none Options
	for command, want := range map[string]fault.Class{
		"cases": fault.None, "diff": fault.None, "run": fault.None, "check": fault.None, "record": fault.Input,
	} {
		if got := fault.ClassOf(checkOptions(&none, command)); got != want {
			t.Errorf("%s without any option: class %v, want %v", command, got, want)
		}
	}
}
