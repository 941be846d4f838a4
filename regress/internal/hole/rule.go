package hole

// rules are rules of --normalize that rewrite most texts of a class. A class without any is not a
// matter of its texts alone.
var rules = [classes][]string{
	Time: {
		`s/\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?)?/TIME/`,
		`s/[A-Z][a-z]{2} {1,2}\d{1,2},?( \d{4})?( \d\d:\d\d:\d\d)?( [A-Z]{3})?( \d{4})?/TIME/`,
		`s/\d\d?:\d\d(:\d\d([.,]\d+)?| ?[AaPp][Mm]\b)( ?[AaPp][Mm]\b)?/TIME/`,
	},
	Address:  {`s/0x[0-9a-fA-F]+/ADDRESS/`},
	UUID:     {`s/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/UUID/`},
	TempPath: {`s|/(var/)?tmp/[\w./-]+|TEMP|`},
	Duration: {`s/(\d+d )?(\d+h )?(\d+m )?(\d+(\.\d+)?(ns|us|µs|ms|s|min|m|h))+\b/DURATION/`},
}

// Rules returns rules of --normalize that may make the texts of a class equal.
func (c Class) Rules() []string { return rules[c] }
