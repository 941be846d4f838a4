package cause_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// An emitterKind is an emitter of one kind of text, with changes that are switched on one by one.
type emitterKind struct {
	name    string
	changes int
	emit    func(w *text)
}

// emitterKinds are three emitters of code, one of markup, and one of prose. A program of the third
// one ends in the same words, whatever the changes are.
func emitterKinds() []emitterKind {
	return []emitterKind{
		{"C", changesMax, nil},
		{"assembly", 10, (*text).assembly},
		{"python", 10, (*text).python},
		{"markup", 10, (*text).markup},
		{"prose", 10, (*text).prose},
	}
}

// write returns the text of a seed with the changes of which the bits are set.
func (k *emitterKind) write(seed uint64, changes int) string {
	if k.emit == nil {
		return program(seed, changes)
	}
	w := &text{emitter{r: rand.New(rand.NewPCG(seed, 2)), changes: changes}}
	k.emit(w)
	return w.String()
}

type text struct{ emitter }

func (w *text) f(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *text) pick(of ...string) string { return of[w.r.IntN(len(of))] }

func (w *text) word() string {
	return w.pick("order", "price", "amount", "ledger", "stock", "branch", "weight", "customer", "invoice", "delivery", "tax", "account", "report", "region", "month", "supplier")
}

// assembly writes functions as a compiler lists them.
func (w *text) assembly() {
	w.f("\t.file\t\"%s.c\"\n\t%s\n", w.word(), w.either(0, ".text", ".section\t.text"))
	label := 0
	for range 1 + w.r.IntN(4) {
		name := w.word() + "_" + w.word()
		w.f("\t%s\n\t.globl\t%s\n%s:\n", w.either(1, ".align 8", ".p2align 3"), name, name)
		w.f("%s\tpushq\t%%rbp\n\tmovq\t%%rsp, %%rbp\n", w.either(2, "", "\t.cfi_startproc\n"))
		for range 2 + w.r.IntN(8) {
			register := w.pick("%eax", "%ebx", "%ecx", "%edx", "%esi")
			switch w.r.IntN(7) {
			case 0:
				w.f("\t%s\n", w.either(3, "movl\t$0, "+register, "xorl\t"+register+", "+register))
			case 1:
				w.f("\tcall\t%s%s\n", w.word(), w.either(4, "", "@PLT"))
			case 2:
				w.f("\t%s\n", w.either(5, "addl\t$1, "+register, "incl\t"+register))
			case 3:
				label++
				w.f("\tjmp\t%s%d\n%s%d:\n", w.either(6, ".L", ".LBB"), label, w.either(6, ".L", ".LBB"), label)
			case 4:
				w.f("\tmovl\t-%d(%%rbp), %s\t%s %s\n", 4+4*w.r.IntN(20), register, w.either(7, "#", "##"), w.word())
			case 5:
				w.f("\tcmpl\t$%d, %s\n\t%s\t%s\n", w.r.IntN(100), register, w.either(8, "jz", "je"), w.word())
			default:
				w.f("\timull\t$%d, %s\n", w.r.IntN(100), register)
			}
		}
		w.WriteString(w.either(9, "\tleave\n", "\tmovq\t%rbp, %rsp\n\tpopq\t%rbp\n") + "\tret\n")
	}
}

// python writes functions of a language in which indents count.
func (w *text) python() {
	w.f("import os\n%simport sys\n\n\n", w.either(0, "", "import re\n"))
	for range 1 + w.r.IntN(4) {
		w.f("def %s_%s(%s, %s):\n", w.word(), w.word(), w.word(), w.word())
		for range 2 + w.r.IntN(6) {
			x := w.word()
			switch w.r.IntN(8) {
			case 0:
				w.f("    %s = %s\n", x, w.either(1, "'"+w.word()+"'", `"`+w.word()+`"`))
			case 1:
				w.f("    %s\n", w.either(2, "print "+x, "print("+x+")"))
			case 2:
				w.f("    if %s %s None:\n        return %d\n", x, w.either(3, "==", "is"), w.r.IntN(50))
			case 3:
				w.f("    %s = %s\n", w.word(), w.either(4, "self."+x, "self._"+x))
			case 4:
				w.f("    for i in range(%s%s):\n        %s += i\n", w.either(5, "0, ", ""), x, w.word())
			case 5:
				w.f("    try:\n        %s(%s)\n    except%s:\n        pass\n", x, w.word(), w.either(6, "", " Exception"))
			case 6:
				w.f("    %s = %s(\n        %s,\n        %d%s\n    )\n", x, w.word(), w.word(), w.r.IntN(90), w.either(7, "", ","))
			default:
				w.f("    %s\n", w.either(8, x+".has_key("+w.word()+")", x+".contains()"))
			}
		}
		w.f("    return %s\n\n\n", w.either(9, "None", "result"))
	}
}

// sentence writes some words with signs of typography.
func (w *text) sentence(quote, apostrophe, dash, dots int) {
	for i := range 5 + w.r.IntN(12) {
		if i > 0 {
			w.WriteString(" ")
		}
		switch w.r.IntN(14) {
		case 0:
			w.f("%s%s %s%s", w.either(quote, `"`, "“"), w.word(), w.word(), w.either(quote, `"`, "”"))
		case 1:
			w.f("%s%ss", w.word(), w.either(apostrophe, "'", "’"))
		case 2:
			w.f("%s %s %s", w.word(), w.either(dash, "--", "—"), w.word())
		case 3:
			w.f("%s%s", w.word(), w.either(dots, "...", "…"))
		default:
			w.WriteString(w.word())
		}
	}
	w.WriteString(".")
}

const never = 30 // the bit of a change that is not made

// markup writes pages of HTML.
func (w *text) markup() {
	w.f("<h1>%s</h1>\n", w.word())
	for range 3 + w.r.IntN(6) {
		switch w.r.IntN(8) {
		case 0:
			w.f("<p%s>", w.either(0, "", ` class="text"`))
			w.sentence(1, never, never, never)
			w.WriteString("</p>\n")
		case 1:
			w.f("%s<br%s>\n%s\n", w.word(), w.either(2, "", " /"), w.word())
		case 2:
			w.WriteString("<table>\n<tr>\n")
			for range 1 + w.r.IntN(4) {
				w.f("<td %s>%s %d</td>\n", w.either(3, `align="left"`, `style="text-align: left"`), w.word(), w.r.IntN(100))
			}
			w.WriteString("</tr>\n</table>\n")
		case 3:
			w.f("<div>%s %s%s%s %s</div>\n", w.word(), w.either(4, "<b>", "<strong>"), w.word(), w.either(4, "</b>", "</strong>"), w.word())
		case 4:
			w.f("<a href=\"/%s/%d\"%s>%s</a>\n", w.word(), w.r.IntN(100), w.either(5, "", ` rel="nofollow"`), w.word())
		case 5:
			w.f("<h2%s>%s %s</h2>\n", w.either(6, "", ` id="section"`), w.word(), w.word())
		case 6:
			w.f("<img src=\"%s.png\"%s>\n", w.word(), w.either(7, "", ` alt=""`))
		default:
			w.WriteString("<ul>\n")
			for range 1 + w.r.IntN(4) {
				w.f("<li>%s%s&%s;%s</li>\n", w.either(8, "<p>", ""), w.word(), w.either(9, "quot", "#34"), w.either(8, "</p>", ""))
			}
			w.WriteString("</ul>\n")
		}
	}
}

// prose writes paragraphs, headings and lists.
func (w *text) prose() {
	title := w.word() + " " + w.word()
	w.f("%s\n\n", w.either(0, title+"\n"+strings.Repeat("=", len(title)), "# "+title))
	for range 3 + w.r.IntN(6) {
		switch w.r.IntN(6) {
		case 0:
			for range 1 + w.r.IntN(4) {
				w.f("%s %s %s\n", w.either(1, "*", "-"), w.word(), w.word())
			}
		case 1:
			w.f("See %s://example.org/%s for the %s.", w.either(2, "http", "https"), w.word(), w.word())
		case 2:
			w.f("The %s%s%s of a %s, e.g.%s the %s.", w.either(3, "_", "*"), w.word(), w.either(3, "_", "*"), w.word(), w.either(4, "", ","), w.word())
		case 3:
			w.f("%s the %s: %s and%s.", w.pick("All of", "None of"), w.word(), w.word(), w.either(5, " "+w.word(), " so on"))
		default:
			for range 1 + w.r.IntN(4) {
				w.sentence(6, 7, 8, 9)
				w.WriteString("\n")
			}
		}
		w.WriteString("\n\n")
	}
}
