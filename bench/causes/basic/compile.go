package basic

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Change is one thing that the emitter does differently.
type Change string

// The changes: typical changes of an emitter.
const (
	Suffix      Change = "suffix"      // a token: 4ll becomes 4LL, nearly everywhere
	Operator    Change = "operator"    // loops run to < and not to <=
	Cast        Change = "cast"        // printed numbers are cast
	Renamed     Change = "renamed"     // a function of the runtime has another name
	Indentation Change = "indentation" // loops are indented by two blanks and not by four
	Include     Change = "include"     // one more header
	Moved       Change = "moved"       // a declaration stands behind the others and not before
	Constant    Change = "constant"    // the stack is larger
	Semicolon   Change = "semicolon"   // no empty statement behind a label
	Comment     Change = "comment"     // remarks are left out
)

// Eight are the changes that are made at once beside Suffix, which is made alone.
func Eight() []Change {
	return []Change{Operator, Cast, Renamed, Indentation, Include, Moved, Constant, Semicolon}
}

// Compile returns a program in C, by an emitter with these changes.
func Compile(source []byte, changes ...Change) []byte {
	e := &emitter{changes: changes, scalars: map[string]bool{}, targets: map[string]bool{}}
	lines := strings.Split(strings.TrimSuffix(string(source), "\n"), "\n")
	for _, l := range lines {
		e.declare(l)
	}
	e.head()
	for _, l := range lines {
		e.statement(l)
	}
	e.put("    return 0;\n}\n")
	return e.out.Bytes()
}

type emitter struct {
	changes          []Change
	scalars, targets map[string]bool
	out              bytes.Buffer
	depth            int // of loops
}

func (e *emitter) with(c Change) bool { return slices.Contains(e.changes, c) }

// either returns one of two texts.
func (e *emitter) either(c Change, changed, usual string) string {
	if e.with(c) {
		return changed
	}
	return usual
}

func (e *emitter) put(format string, args ...any) { fmt.Fprintf(&e.out, format, args...) }

// code writes a statement at its depth.
func (e *emitter) code(format string, args ...any) {
	e.put("    %s%s\n", strings.Repeat(e.either(Indentation, "  ", "    "), e.depth), fmt.Sprintf(format, args...))
}

var (
	scalar = regexp.MustCompile(`\b[A-PR-Z][0-9]?\b`)
	target = regexp.MustCompile(`(?:THEN|GOSUB) ([0-9]+)$`)
	text   = regexp.MustCompile(`"[^"]*"|S[0-9]\$`)
	// What an expression is made of: an array or function with its bracket, a name, a number.
	atom = regexp.MustCompile(`Q[0-9]\(|[A-Z]{3}\(|[A-Z][0-9]?|[0-9]+`)
)

// declare notes what a line names.
func (e *emitter) declare(line string) {
	if m := target.FindStringSubmatch(line); m != nil {
		e.targets[m[1]] = true
	}
	if _, statement, _ := strings.Cut(line, " "); !strings.HasPrefix(statement, "REM") {
		for _, name := range scalar.FindAllString(text.ReplaceAllString(statement, ""), -1) {
			e.scalars[strings.ToLower(name)] = true
		}
	}
}

func (e *emitter) head() {
	e.put("#include <stdio.h>\n")
	if e.with(Include) {
		e.put("#include <stdint.h>\n")
	}
	e.put("#include \"rt.h\"\n\n")
	const state = "static rt_state state;\n"
	if !e.with(Moved) {
		e.put(state)
	}
	names := make([]string, 0, len(e.scalars))
	for name := range e.scalars {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		e.put("static long long v_%s;\n", name)
	}
	e.put("static long long a_q0[256], a_q1[256], a_q2[256], a_q3[256];\nstatic rt_string s_s[9];\n")
	if e.with(Moved) {
		e.put(state)
	}
	e.put("\nint main(void)\n{\n    rt_init(&state);\n")
}

func (e *emitter) statement(line string) {
	number, rest, _ := strings.Cut(line, " ")
	word, rest, _ := strings.Cut(rest, " ")
	if e.targets[number] {
		e.put("L%s:%s\n", number, e.either(Semicolon, "", " ;"))
	}
	switch word {
	case "LET":
		e.let(rest)
	case "PRINT":
		e.print(rest)
	case "IF":
		condition, to, _ := strings.Cut(rest, " THEN ")
		e.code("if (%s) goto L%s;", e.condition(condition), to)
	case "FOR":
		v, bounds, _ := strings.Cut(rest, " = ")
		from, to, _ := strings.Cut(bounds, " TO ")
		v = e.expression(v)
		e.code("for (%s = %s; %s %s %s; %s += %s) {", v, e.expression(from), v, e.either(Operator, "<", "<="), e.expression(to), v, e.expression("1"))
		e.depth++
	case "NEXT":
		e.depth--
		e.code("}")
	case "GOSUB":
		e.code("rt_push(&state, %s, %s);", number, e.either(Constant, "128", "64"))
		e.code("goto L%s;", rest)
		e.put("R%s:\n", number)
	case "INPUT":
		e.code("rt_input(&state, &%s);", e.expression(rest))
	case "REM":
		if !e.with(Comment) {
			e.code("/* %s */", rest)
		}
	case "END":
		e.code("rt_end(&state);")
	}
}

func (e *emitter) let(rest string) {
	to, value, _ := strings.Cut(rest, " = ")
	if name, isText := strings.CutSuffix(to, "$"); isText {
		e.code("rt_set(&s_s[%s], %s);", name[1:], value)
		return
	}
	if index, isArray := strings.CutSuffix(to, ")"); isArray {
		name, index, _ := strings.Cut(index, "(")
		e.code("a_%s[rt_index(%s)] = %s;", strings.ToLower(name), e.expression(index), e.expression(value))
		return
	}
	e.code("%s = %s;", e.expression(to), e.expression(value))
}

func (e *emitter) print(rest string) {
	if strings.HasPrefix(rest, `"`) {
		e.code("%s(%s);", e.either(Renamed, "rt_puts", "rt_print_str"), rest)
	} else {
		e.code("rt_print_num(%s);", e.either(Cast, "(double)("+e.expression(rest)+")", e.expression(rest)))
	}
	e.code("rt_newline();")
}

func (e *emitter) condition(text string) string {
	left, rest, _ := strings.Cut(text, " ")
	comparison, right, _ := strings.Cut(rest, " ")
	switch comparison {
	case "=":
		comparison = "=="
	case "<>":
		comparison = "!="
	}
	return e.expression(left) + " " + comparison + " " + e.expression(right)
}

func (e *emitter) expression(text string) string {
	return atom.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case s[0] >= '0' && s[0] <= '9':
			return s + e.either(Suffix, "LL", "ll")
		case strings.HasSuffix(s, "("):
			return "rt_" + strings.ToLower(s)
		}
		return "v_" + strings.ToLower(s)
	})
}
