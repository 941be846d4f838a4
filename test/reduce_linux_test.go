package test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var planted = flag.Int("planted", 8<<10, "how many bytes the source of TestReduce has")

// A C source in which one place shows the change is reduced below 1 KB, whatever its size. It
// still compiles, and has only what the cause needs. make long uses a source of 64 KB.
func TestReduce(t *testing.T) {
	tcc := require(t, "tcc")
	f := newFolder(t)
	// The change is one of what a program becomes, as far as it is one.
	f.write("old", "#!/bin/sh\n"+tcc+" -w -c -o out.o $1 || exit\nrm out.o; exec sed 's, / , div ,' $1\n", 0o755)
	f.write("new", "#!/bin/sh\n"+tcc+" -w -c -o out.o $1 || exit\nrm out.o; exec sed 's, / , quot ,' $1\n", 0o755)
	source := plant(rand.New(rand.NewPCG(3, 3)), *planted)
	f.write("src/big.c", source, 0o644)
	f.muster(0, "record", "src", "--", "./old", "{in}")
	f.muster(1, "check", "--", "./new", "{in}")
	began := time.Now()
	said := string(f.muster(0, "reduce", "G1"))
	t.Logf("%d bytes in %v\n%s", len(source), time.Since(began), said)
	left, err := filepath.Glob(filepath.Join(f.dir, ".muster/reduced/*/big.c"))
	if err != nil || len(left) != 1 {
		t.Fatalf("%q, %v", left, err)
	}
	text, err := os.ReadFile(left[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 200 || bytes.Count(text, []byte(" / ")) != 1 {
		t.Errorf("%d bytes are left:\n%s", len(text), text)
	}
}

// plant writes a C program of some size, with one division in its middle.
func plant(r *rand.Rand, size int) string {
	var b strings.Builder
	b.WriteString("#include <stddef.h>\n\nstruct node { int key; struct node *next; };\n\n")
	done := false
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "/* Computes number %d. */\nint f%d(int a, struct node *n)\n{\n\tint s = %d;\n", i, i, r.IntN(99))
		for range 2 + r.IntN(5) {
			statement(&b, r, i, 1)
		}
		if !done && b.Len() > size/2 {
			done = true
			b.WriteString("\twhile (n != NULL) {\n\t\tif (n->key > 3) {\n\t\t\ts += a / (n->key + 1);\n\t\t}\n\t\tn = n->next;\n\t}\n")
		}
		b.WriteString("\treturn s;\n}\n\n")
	}
	return b.String()
}

// statement writes a statement that uses the earlier functions.
func statement(b *strings.Builder, r *rand.Rand, functions, depth int) {
	indent := strings.Repeat("\t", depth)
	switch k := r.IntN(6); {
	case k == 0 && functions > 0:
		fmt.Fprintf(b, "%ss += f%d(s * %d, n);\n", indent, r.IntN(functions), r.IntN(9))
	case k <= 2 || depth > 2:
		fmt.Fprintf(b, "%ss = (s ^ a) + %d;\n", indent, r.IntN(999))
	default:
		head := []string{"if (s < a) {", "for (int i = 0; i < a; i++) {", "while (s > 90) {"}[k-3]
		fmt.Fprintf(b, "%s%s\n", indent, head)
		for range 1 + r.IntN(3) {
			statement(b, r, functions, depth+1)
		}
		fmt.Fprintf(b, "%s}\n", indent)
	}
}
