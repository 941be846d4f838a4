package cause_test

import (
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// Decode detects damage of stored causes.
func TestDecodeDamaged(t *testing.T) {
	kept, err := analyseCases(changedCase("a", "x ll\n", "x LL\n"), changedCase("b", "x ll\n", "x LL\n")).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"id":"G1"`, `"id":"G2"`},
		{`"kind":"edit"`, `"kind":"\u001b[31m"`},
		{`"signature":"`, `"signature":"\u001b`},
		{`"cases":2`, `"cases":-2`},
		{`"patterns":[`, `"patterns":["e $ wx\tw",`},
		{`"patterns":[`, `"patterns":["e $999 wx\tw",`},
		{`"patterns":[`, `"patterns":["=e #x wx\tw",`},
		{`"patterns":[`, `"patterns":["e $0 wx\tw",`},
		{`"causes":[0]`, `"causes":[]`},
		{`"causes":[0]`, `"causes":[0,0]`},
		{`"causes":[0]`, `"causes":[1]`},
		{`"name":"Yg=="`, `"name":"YQ=="`},
	} {
		damaged := strings.Replace(string(kept), c[0], c[1], 1)
		if damaged == string(kept) {
			t.Fatalf("there is no %s in %s", c[0], kept)
		}
		if f, err := cause.Decode([]byte(damaged)); err == nil {
			t.Errorf("with %s it is read: %+v", c[1], f)
		}
	}
	if _, err := cause.Decode(kept); err != nil {
		t.Errorf("as it was written: %v", err)
	}
}
