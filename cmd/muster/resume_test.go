package main

import (
	"strings"
	"testing"
)

func TestResumeLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "--jobs", "1", "--", "./tool", "{in}", "--env", "x"}, "muster check --jobs 1 --resume -- ./tool '{in}' --env x"},
		{[]string{"check", "--resume"}, "muster check --resume"},
		{[]string{"check", "--resume=false"}, "muster check --resume=false --resume"},
		{[]string{"check", "--golden", "--resume"}, "muster check --golden --resume --resume"},
		{[]string{"check", "b\xff"}, ""},
		{[]string{"show", "a"}, ""},
		{[]string{"check", "--env", "KEY=secret"}, ""},
		{[]string{"check", "--env=KEY=secret"}, ""},
		{[]string{"check", "--golden", "https://me:secret@host/golden"}, ""},
		{[]string{"check", "--", "./tool", "a\nb"}, ""},
		{[]string{"check", "--golden", strings.Repeat("x", resumeBytesMax)}, ""},
	} {
		if got := resumeLine(tc.args); got != tc.want {
			t.Errorf("resumeLine(%q) = %q, want %q", tc.args, got, tc.want)
		}
	}
}
