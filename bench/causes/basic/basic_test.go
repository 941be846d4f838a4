package basic

import (
	"bytes"
	"strings"
	"testing"
)

const source = `10 REM a remark
20 FOR I0 = 1 TO N
30 PRINT "B1 is"
40 PRINT B1 * 2
50 LET Q1(I0) = ABS(B1)
60 NEXT I0
70 IF B1 <> 4 THEN 20
80 GOSUB 70
90 LET S3$ = "x"
100 END
`

const compiled = `#include <stdio.h>
#include "rt.h"

static rt_state state;
static long long v_b1;
static long long v_i0;
static long long v_n;
static long long a_q0[256], a_q1[256], a_q2[256], a_q3[256];
static rt_string s_s[9];

int main(void)
{
    rt_init(&state);
    /* a remark */
L20: ;
    for (v_i0 = 1ll; v_i0 <= v_n; v_i0 += 1ll) {
        rt_print_str("B1 is");
        rt_newline();
        rt_print_num(v_b1 * 2ll);
        rt_newline();
        a_q1[rt_index(v_i0)] = rt_abs(v_b1);
    }
L70: ;
    if (v_b1 != 4ll) goto L20;
    rt_push(&state, 80, 64);
    goto L70;
R80:
    rt_set(&s_s[3], "x");
    rt_end(&state);
    return 0;
}
`

func TestCompile(t *testing.T) {
	if got := string(Compile([]byte(source))); got != compiled {
		t.Errorf("Compile =\n%s", got)
	}
}

// What is planted is what its name says, and nothing beside it.
func TestChanges(t *testing.T) {
	for change, mend := range map[Change]*strings.Replacer{
		Suffix:      strings.NewReplacer("LL", "ll"),
		Operator:    strings.NewReplacer(" < v_n", " <= v_n"),
		Cast:        strings.NewReplacer("(double)(v_b1 * 2ll)", "v_b1 * 2ll"),
		Renamed:     strings.NewReplacer("rt_puts", "rt_print_str"),
		Include:     strings.NewReplacer("#include <stdint.h>\n", ""),
		Constant:    strings.NewReplacer("128", "64"),
		Semicolon:   strings.NewReplacer("L20:\n", "L20: ;\n", "L70:\n", "L70: ;\n"),
		Comment:     strings.NewReplacer("(&state);\nL20", "(&state);\n    /* a remark */\nL20"),
		Moved:       strings.NewReplacer("\nstatic long long v_b1", "\nstatic rt_state state;\nstatic long long v_b1", "static rt_state state;\n\nint", "\nint"),
		Indentation: strings.NewReplacer("\n      rt", "\n        rt", "\n      a_q1", "\n        a_q1"),
	} {
		got := string(Compile([]byte(source), change))
		if got == compiled {
			t.Errorf("%s changes nothing", change)
		}
		if mended := mend.Replace(got); mended != compiled {
			t.Errorf("%s:\n%s", change, got)
		}
	}
}

func TestSource(t *testing.T) {
	a, b := Source(7, 300), Source(7, 300)
	if !bytes.Equal(a, b) || bytes.Equal(a, Source(8, 300)) {
		t.Error("a program is not that of its seed")
	}
	if n := bytes.Count(a, []byte("\n")); n < 299 || n > 303 {
		t.Errorf("%d lines, and not 300", n)
	}
}
