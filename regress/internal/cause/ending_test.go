package cause

import "testing"

// What a tool says of a wrong option or file is its first error, not a line of its usage text that
// happens to have a word such as error.
func TestFirstDiagnostic(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"Go flag": {"flag provided but not defined: -x\nUsage of tool:\n  -e string\n    \terror format (default \"text\")\n  -fail-on-error\n    \tend with 1\n",
			"flag provided but not defined: -x"},
		"Go flag, value": {"invalid value \"a\" for flag -n: parse error\nUsage of tool:\n  -n int\n    \tnumber of errors\n", "invalid value STR for flag -n: parse error"},
		"GNU getopt":     {"tool: unrecognized option '--x'\nTry 'tool --help' for more information.\n", "tool: unrecognized option STR"},
		"getopt, usage after": {"tool: invalid option -- 'x'\nUsage: tool [OPTION]... FILE\nReport errors.\n\n  -e, --error   what is missing\n",
			"tool: invalid option -- STR"},
		"argparse":       {"usage: tool [-h] [--error ERROR]\n            [--missing] file\ntool: error: unrecognized arguments: --x\n", "tool: error: unrecognized arguments: --x"},
		"argparse, file": {"usage: tool [-h] file\ntool: error: argument file: can't open 'a': [Errno 2] No such file or directory: 'a'\n", "tool: error: argument file: can't open STR: [Errno N] No such file or directory: STR"},
		"clap":           {"error: unexpected argument '--x' found\n\n  tip: a similar argument exists: '--error'\n\nUsage: tool [OPTIONS] <FILE>\n\nFor more information, try '--help'.\n", "error: unexpected argument STR found"},
		"click":          {"Usage: tool [OPTIONS] FILE\nTry 'tool --help' for help.\n\nError: No such option: --x\n", "Error: No such option: --x"},
		"cobra":          {"Error: unknown flag: --x\nUsage:\n  tool [flags]\n\nFlags:\n      --error string   missing\n\nunknown flag: --x\n", "Error: unknown flag: --x"},
		"cobra, usage first": {"Usage:\n  tool [flags]\n\nFlags:\n      --error string   missing\n\nGlobal Flags:\n  -x, --unknown   no such\n\nunknown flag: --y\n",
			"unknown flag: --y"},
		"commander":            {"error: unknown option '--x'\n(Did you mean --error?)\n", "error: unknown option STR"},
		"a warning before":     {"a.c:1:2: warning: missing braces [-Wmissing]\na.c:3:4: error: expected ';' before 'x'\n", "error: expected ';' before STR"},
		"only warnings":        {"a.c:1:2: warning: missing braces [-Wmissing]\nalso this\n", "warning: missing braces"},
		"Python":               {"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\nValueError: 7\n", "ValueError: N"},
		"no word of errors":    {"\nthis goes not\n  at all\n", "this goes not"},
		"nothing":              {" \n", "nothing said"},
		"an option by itself":  {"--error is missing\ntool: bad\n", "tool: bad"},
		"an error about usage": {"error: wrong usage of x\n", "error: wrong usage of x"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := firstDiagnostic([]byte(c.said)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
