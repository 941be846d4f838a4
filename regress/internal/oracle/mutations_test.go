package oracle

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutation is a break that the oracle must notice: a statement with which a function begins. It depends on nothing
// of the function but its name and its parameters, so few changes of the code concern it.
type mutation struct {
	file                string // from rooms
	function, statement string // the function has its receiver's type before it if the file has several of that name
	breaks              string
}

// mutations has at least one break of each promise that a user relies on.
var mutations = []mutation{
	{"internal/outcome/verdict.go", "Compare", "if old.Ending.Partial() != now.Ending.Partial() { return Comparison{}, nil }", "a case that a limit ended equals a complete one"},
	{"internal/outcome/verdict.go", "endedAlike", "return a.Ending.Kind == b.Ending.Kind", "exit statuses are not compared"},
	{"internal/outcome/verdict.go", "difference", "if o == nil { return nil, nil }", "an additional file is no difference"},
	{"internal/outcome/verdict.go", "difference", "if n == nil { return nil, nil }", "a file that is absent now is no difference"},
	{"internal/outcome/outcome.go", "same", "return p.Form == q.Form && p.Size == q.Size", "contents of one size are equal"},
	{"internal/outcome/runs.go", "shapes", "return AllShapes", "a flaky part may have any shape"},
	{"internal/content/holes.go", "around", "return true, nil", "anything fits beside the holes of a flaky part"},
	{"internal/outcome/verdict.go", "Judge", "old, now = now, old", "the class is that of the way back"},
	{"internal/outcome/runs.go", "addRun", "return false", "parts that vary are not marked"},
	{"internal/outcome/runs.go", "addEndings", "return false", "an ending that varies is not marked"},
	{"internal/outcome/verdict.go", "Merge", "if again.Ending.Partial() { return Nothing, nil }", "a limit that ended a later run is not kept"},
	{"internal/outcome/verdict.go", "Merge", "if o.Ending.Partial() { return marked(o.addEndings(again)), nil }", "a complete run does not replace a partial one"},
	{"internal/outcome/verdict.go", "VariesBeyond", "return false", "no case is unstable"},
	{"internal/outcome/verdict.go", "endsAsBefore", "return true", "an accept keeps the endings that it replaces"},
	{"internal/keep/keep.go", "Judge", "if rec.Equal < rec.Runs { one := *rec; one.Equal = 0; rec = &one }", "one run that differs is a change, whatever the others are"},
	{"internal/keep/keep.go", "Judge", "if rec.Equal > 0 { return regress.Identical, false }", "one run that equals the golden makes a case identical"},
	{"internal/keep/keep.go", "count", "if l == Unlike { l = Alike }", "every run counts as equal"},
	{"internal/verdict/first.go", "furtherRuns.run", "if u.line.Identical { f.numbers.Identical = 1 }", "identical cases have one run"},
	{"internal/pass/pass.go", "RunOnce", "fresh = false", "a further run may be an old one"},
	{"internal/verdict/judge.go", "Compare", "if j.Baseline.Has(caseName) { return keep.Alike, left, nil }", "first runs are not compared"},
	{"internal/verdict/judge.go", "masked", "return left, nil", "what is not compared is not counted"},
	{"internal/cause/ending.go", "explains", "return f != nil", "a flip hides the rest"},
	{"internal/cause/ending.go", "endingPattern", "return \"\"", "a flip is no cause"},

	{"internal/run/identity.go", "FirstDifference", "return \"\"", "a run goes on whatever changed"},
	{"internal/run/identity.go", "Identify", "return", "the corpus may be another one"},
	{"internal/job/remote.go", "IdentityFlags", "return nil", "settings may be others"},
	{"internal/job/remote.go", "DigestPassed", "return outcome.Digest{}", "passed variables may be others"},
	{"check/operation.go", "identity", "return map[string]string{}, nil", "a check goes on with another golden or tool"},
	{"internal/sample/sample.go", "pick", "return finished[:1]", "a resume runs one finished case again"},
	{"internal/sample/sample.go", "refuse", "return nil", "a resume goes on though finished cases leave something else"},
	{"internal/verdict/judge.go", "Repeat", "return nil", "a check runs no finished case again"},
	{"record/opening.go", "repeatFinished", "return nil", "a record runs no finished case again"},
	{"internal/verdict/collector.go", "line", "one := *r; one.identical = true; r = &one", "the journal calls every case identical"},
	{"internal/verdict/finished.go", "takeLine", "if !l.Identical { return true, nil }", "a case that differed before the interrupt gets no verdict"},
	{"record/before.go", "lacks", "return h.runs == 0", "a record that goes on makes no second runs"},

	{"internal/run/tool.go", "identify", "return", "the tool's files may be others"},
	{"internal/run/tool.go", "ChangedSince", "return nil, 0", "a check does not name the tool's files that changed"},
	{"internal/filestamp/filestamp.go", "Of", "return \"\"", "a digest is kept though another file took the place"},
	{"internal/filestamp/mount_linux.go", "IsTrusted", "return true", "a file that is mapped for writing is trusted"},
	{"internal/closure/watch.go", "lookAt", "return nil", "a file that is written to during a run is not compared"},
	{"internal/run/begin.go", "Forget", "return nil", "what ran before the tool changed counts"},

	{shimFile, "isOfLane", "return 0;", "a server knows the lane's folder"},
	{shimFile, "isStop", "return 0;", "a server knows its input"},
	{shimFile, "knowsResult", "return 1;", "a server knows the size and the end of its input"},
	{shimFile, "takesDescriptor", "return 0;", "a server shows its socket"},
	{shimFile, "listsProcess", "return 0;", "a server lists its descriptors and processes"},
	{shimFile, "becomeCase", "control = -1;", "a fork keeps the server's socket"},
}

const shimFile = "internal/forkserver/shim/shim.c"

// mutationRounds is how many rounds the oracle has to notice a mutation.
const mutationRounds = 12000

var mutated = flag.String("mutations", "", "break the code by the mutations whose effect or file contains `TEXT`, or all")

// rooms is the folder that the files of mutations are relative to.
const rooms = "../.."

// mutantVariable has the number of the mutation that is switched on.
const mutantVariable = "MUSTER_MUTANT"

// TestMutations builds these tests with all mutations, and wants the oracle to notice each one that is asked for.
// Without -mutations it only looks whether the code with all of them compiles, and with -short whether it
// still has their functions.
func TestMutations(t *testing.T) {
	dir := t.TempDir()
	overlay := writeOverlay(t, dir)
	program := filepath.Join(dir, "oracle.test")
	args := []string{"test", "-c", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "."}
	switch {
	case *mutated == "" && testing.Short():
		return
	case *mutated == "":
		args = []string{"build", "-overlay", overlay, "muster/regress/record", "muster/regress/check"}
	}
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, m := range mutations {
		if *mutated == "all" || *mutated != "" && strings.Contains(m.file+": "+m.breaks, *mutated) {
			t.Run(m.breaks, func(t *testing.T) { m.run(t, program, i) })
		}
	}
}

// writeOverlay writes the files that go build takes in place of those in the tree. In these, each mutation is
// behind a switch. The switch of a C function is a constant in a header, which the compiler of the shim finds.
func writeOverlay(t *testing.T, dir string) string {
	t.Helper()
	replaced, texts := map[string]string{}, map[string]string{}
	for i, m := range mutations {
		text, known := texts[m.file]
		if !known {
			b, err := os.ReadFile(filepath.Join(rooms, m.file))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		receiver, function, isMethod := strings.Cut(m.function, ".")
		if !isMethod {
			receiver, function = `\w+`, m.function
		}
		begin := `(?m)^func (?:\(\w+ \*?` + receiver + `\) )?` + function + `\([^{\n]*\{`
		insert := fmt.Sprintf("\nif mutant == %q {\n%s\n}\n", fmt.Sprint(i), m.statement)
		if m.file == shimFile {
			begin, insert = `(?m)^static .*\b`+function+`\(.*\{$`, fmt.Sprintf("\n#if MUTANT == %d\n%s\n#endif", i, m.statement)
		}
		found := regexp.MustCompile(begin).FindAllStringIndex(text, -1)
		if len(found) != 1 {
			t.Errorf("%s has the function %s %d times, not once: change the mutation with the code, or replace it by another", m.file, m.function, len(found))
			continue
		}
		texts[m.file] = text[:found[0][1]] + insert + text[found[0][1]:]
	}
	write := func(inTree, text string) {
		path, err := filepath.Abs(filepath.Join(rooms, inTree))
		if err == nil {
			replaced[path] = filepath.Join(dir, strings.ReplaceAll(inTree, "/", "."))
			err = os.WriteFile(replaced[path], []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range texts {
		if file == shimFile {
			write(file, "#include <mutant.h>\n"+text)
			continue
		}
		write(file, text)
		first, _, _ := strings.Cut(text[strings.Index("\n"+text, "\npackage "):], "\n")
		write(filepath.Join(filepath.Dir(file), "mutant.go"), first+"\nimport \"os\"\nvar mutant = os.Getenv(\""+mutantVariable+"\")\n")
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "overlay.json")
}

var (
	noticed = regexp.MustCompile(`failed after (\d+) tests: (.*)`)
	broken  = regexp.MustCompile(`property .* is broken: .*`) // also where it does not happen again
)

// run has the oracle look for a mutation.
func (m mutation) run(t *testing.T, program string, number int) {
	play, include := "TestOracle$", t.TempDir()
	if m.file == shimFile {
		play = "TestForks$"
	}
	if err := os.WriteFile(filepath.Join(include, "mutant.h"), fmt.Appendf(nil, "#define MUTANT %d\n", number), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "-test.run", play, "-test.timeout", "10m",
		"-rounds", fmt.Sprint(mutationRounds), "-rapid.nofailfile", "-rapid.shrinktime", "0s")
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", mutantVariable, number), "CPATH="+include)
	out, err := c.CombinedOutput()
	found := noticed.FindSubmatch(out)
	switch {
	case err == nil:
		t.Errorf("not noticed in %d rounds", mutationRounds)
	case found != nil:
		t.Logf("noticed in round %s: %.200s", found[1], found[2])
	default:
		t.Logf("noticed, %v: %.200s", err, append(broken.Find(out), out...))
	}
}
