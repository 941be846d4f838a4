package job

import (
	"bytes"
	"fmt"
	"os"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// IdentityFlags returns the settings that change outcomes or the choice of cases, by name.
func IdentityFlags(o *regress.Options) map[string]string {
	f := OutcomeFlags(o)
	for name, list := range map[string][]string{"--cases": o.Select.Globs, "--filter": o.Select.Filters} {
		if len(list) > 0 {
			f[name] = fmt.Sprintf("%q", list)
		}
	}
	if o.Select.Partition != "" {
		f["--partition"] = o.Select.Partition
	}
	if o.Select.Sample > 0 {
		f["--sample"] = fmt.Sprint(o.Select.Sample)
	}
	if o.Select.AllCases {
		f["--all-cases"] = "true"
	}
	return f
}

// DigestPassed returns a digest of the variables that are passed on. Their values may be secrets.
func DigestPassed(c *regress.Command) outcome.Digest {
	var b bytes.Buffer
	for _, key := range c.PassEnv {
		value, set := os.LookupEnv(key)
		fmt.Fprintf(&b, "%q %t %q\n", key, set, value)
	}
	return outcome.Of(b.Bytes())
}
