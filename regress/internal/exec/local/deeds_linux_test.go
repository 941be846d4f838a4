package local

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A deed is something that a case does, and what must come of it.
type deed struct {
	name, script string
	want         []string // lines of rig.tell; the ending "exit 0" when there is none
}

// TestDeeds: an outcome holds exactly what the case changed, in both modes, and
// the next case on the lane finds the folder as the first one did.
func TestDeeds(t *testing.T) {
	for name, table := range map[string][]deed{
		"edits": edits(), "links": links(), "folders": folders(), "oddities": oddities(),
	} {
		t.Run(name, func(t *testing.T) {
			inBothModes(t, usual, func(r *rig) {
				for _, d := range table {
					r.sub(d.name, d.check)
				}
			})
		})
	}
}

func (d *deed) check(r *rig) {
	want := d.want
	if len(want) == 0 || !strings.HasPrefix(want[0], "exit") && want[0] != "output-limit" {
		want = append([]string{"exit 0"}, want...)
	}
	r.want(r.run("sub/two.c", d.script), want...)
	r.wantClean("next.c")
	r.wantClean("sub/deep/three.c")
}

// edits of given files and of the source.
func edits() []deed {
	return []deed{
		{"nothing", "", nil},
		{"the source read", "cat $1", []string{`stdout "source two\n"`}},
		{"new files", "echo x > a; echo y > sub/b; : > e; cp HDR_tool.sh t; echo o; echo p >&2", []string{
			`stdout "o\n"`, `stderr "p\n"`, `a "x\n"`, `e ""`, `sub/b "y\n"`, `t "#!/bin/sh\necho tool\n" exec`}},
		{"files after failing", "echo partial > $1.out; echo bad >&2; exit 3", []string{
			"exit 3", `stderr "bad\n"`, `sub/two.c.out "partial\n"`}},
		{"the source with the same bytes", "cp $1 $TMPDIR/c; cat $TMPDIR/c > $1", nil},
		{"the source edited", "echo more >> $1", []string{`sub/two.c "source two\nmore\n"`}},
		{"the source removed", "rm $1", []string{"sub/two.c gone"}},
		{"the source replaced", "echo new > n; mv n $1", []string{`sub/two.c "new\n"`}},
		{"a header with the same bytes", "cp HDR_a.h $TMPDIR/c; cat $TMPDIR/c > HDR_a.h; touch inc/HDR_b.h", nil},
		{"a header edited", "echo more >> inc/HDR_b.h", []string{`inc/HDR_b.h "header b\nmore\n"`}},
		{"a header, one byte", "printf X | dd of=HDR_a.h conv=notrunc 2>/dev/null", []string{`HDR_a.h "Xeader a\n"`}},
		{"a header through a mapping", self("mmap", "HDR_a.h"), []string{`HDR_a.h "Meader a\n"`}},
		{"a header truncated", ": > HDR_a.h; truncate -s 3 inc/HDR_b.h; truncate -s 30 inc/deep/HDR_c.h", []string{
			`HDR_a.h ""`, `inc/HDR_b.h "hea"`, `inc/deep/HDR_c.h "header c\n` + strings.Repeat(`\x00`, 21) + `"`}},
		{"executable", "chmod +x HDR_a.h $1; chmod -x HDR_tool.sh", []string{
			`HDR_a.h "header a\n" exec`, `HDR_tool.sh "#!/bin/sh\necho tool\n"`, `sub/two.c "source two\n" exec`}},
		{"modes that do not count", "chmod 600 HDR_a.h; chmod 000 $1; chmod 700 HDR_tool.sh", nil},
		{"a new file of mode 0", "echo x > n; chmod 000 n HDR_a.h", []string{`n "x\n"`}},
		{"a large new file of mode 0", "head -c 100000 /dev/zero > n; chmod 000 n", []string{"n " + zeros(100_000)}},
		{"a file over a header", "echo n > n; mv n inc/HDR_b.h", []string{`inc/HDR_b.h "n\n"`}},
		{"headers removed", "rm HDR_a.h inc/HDR_b.h link", []string{"HDR_a.h gone", "inc/HDR_b.h gone", "link gone"}},
		{"headers removed and made again", "cp HDR_a.h c; rm HDR_a.h; mv c HDR_a.h", nil},
		{"headers swapped", "mv HDR_a.h c; mv inc/HDR_b.h HDR_a.h; mv c inc/HDR_b.h", []string{
			`HDR_a.h "header b\n"`, `inc/HDR_b.h "header a\n"`}},
		{"a header moved", "mv HDR_a.h moved", []string{"HDR_a.h gone", `moved "header a\n"`}},
	}
}

// links, hard and symbolic.
func links() []deed {
	edited := []string{`HDR_a.h "header a\nevil\n"`}
	return []deed{
		{"a header linked and written", "ln HDR_a.h l; echo evil >> l", append(edited, `l "header a\nevil\n"`)},
		{"a header linked", "ln HDR_a.h l", []string{`l "header a\n"`}},
		{"a header written under a name that is gone", "ln HDR_a.h l; echo evil >> l; rm l", edited},
		{"under a name that was replaced", "ln HDR_a.h l; echo evil >> l; echo n > n; mv n l", append(edited, `l "n\n"`)},
		{"under a name in a new folder", "mkdir d; ln HDR_a.h d/l; echo evil >> d/l; rm -r d", edited},
		{"under a name in home", "ln HDR_a.h $HOME/l; echo evil >> $HOME/l", edited},
		{"under a name in tmp that is gone", "ln HDR_a.h $TMPDIR/l; echo evil >> $TMPDIR/l; rm $TMPDIR/l", edited},
		{"under a name in a folder in tmp", "mkdir $TMPDIR/d; ln HDR_a.h $TMPDIR/d/l; echo evil >> $TMPDIR/d/l", edited},
		{"under a name beside the three", "ln HDR_a.h ../l; echo evil >> ../l; rm ../l", edited},
		{"the mode of a header under another name", "ln HDR_a.h l; chmod +x l; rm l", []string{`HDR_a.h "header a\n" exec`}},
		{"the source linked and written", "ln $1 l; echo evil >> l; rm l", []string{`sub/two.c "source two\nevil\n"`}},
		{"symlinks", "ln -s HDR_a.h s; ln -s /nowhere t; ln -s s sub/u", []string{"s -> HDR_a.h", "sub/u -> s", "t -> /nowhere"}},
		{"a symlink for a header", "rm HDR_a.h; ln -s inc/HDR_b.h HDR_a.h", []string{"HDR_a.h -> inc/HDR_b.h"}},
		{"a symlink for the source", "rm $1; ln -s ../HDR_a.h $1", []string{"sub/two.c -> ../HDR_a.h"}},
		{"a given link changed", "rm link; ln -s other link", []string{"link -> other"}},
		{"a given link made again", "rm link; ln -s inc link", nil},
		{"a file for a given link", "rm link; echo x > link", []string{`link "x\n"`}},
		{"through a given link", "echo x > link/n; echo more >> link/HDR_b.h", []string{
			`inc/HDR_b.h "header b\nmore\n"`, `inc/n "x\n"`}},
	}
}

// gone is a line for each name.
func gone(names ...string) []string {
	lines := make([]string, len(names))
	for i, n := range names {
		lines[i] = n + " gone"
	}
	return lines
}

// everything that a case is given.
var everything = gone("HDR_a.h", "HDR_tool.sh", "inc/HDR_b.h", "inc/deep/HDR_c.h", "link", "other/HDR_b.h", "sub/two.c")

// folders made, moved, removed, shut.
func folders() []deed {
	inc := gone("inc/HDR_b.h", "inc/deep/HDR_c.h")
	return []deed{
		{"new folders", "mkdir -p x/y/z e; echo 1 > x/1; echo 2 > x/y/2; echo 3 > x/y/z/3; echo n > sub/n", []string{
			`sub/n "n\n"`, `x/1 "1\n"`, `x/y/2 "2\n"`, `x/y/z/3 "3\n"`}},
		{"a new folder that is gone", "mkdir x; echo 1 > x/1; rm -r x", nil},
		{"a given folder moved", "mv inc moved", append(inc, `moved/HDR_b.h "header b\n"`, `moved/deep/HDR_c.h "header c\n"`)},
		{"moved into another", "mv inc other/inc", append(inc, `other/inc/HDR_b.h "header b\n"`, `other/inc/deep/HDR_c.h "header c\n"`)},
		{"moved away and back", "mv inc x; echo n > x/n; mv x inc", []string{`inc/n "n\n"`}},
		{"swapped", "mv inc x; mv other inc; mv x other", append([]string{`inc/HDR_b.h "another b\n"`}, append(gone("inc/deep/HDR_c.h"),
			`other/HDR_b.h "header b\n"`, `other/deep/HDR_c.h "header c\n"`)...)},
		{"the source's folder moved", "mv sub x", []string{"sub/two.c gone", `x/two.c "source two\n"`}},
		{"the source's folder removed", "rm -r sub", gone("sub/two.c")},
		{"removed and made again", "rm -r inc; mkdir inc; echo n > inc/n", []string{inc[0], inc[1], `inc/n "n\n"`}},
		{"a file for a folder", "rm -r inc; echo n > inc", append([]string{`inc "n\n"`}, inc...)},
		{"a link for a folder", "rm -r inc; ln -s other inc", append([]string{"inc -> other"}, inc...)},
		{"a link to where a folder went", "mv inc x; ln -s x inc", append([]string{"inc -> x"}, append(slices.Clone(inc),
			`x/HDR_b.h "header b\n"`, `x/deep/HDR_c.h "header c\n"`)...)},
		{"a folder for a header", "rm HDR_a.h; mkdir HDR_a.h; echo n > HDR_a.h/n", []string{"HDR_a.h gone", `HDR_a.h/n "n\n"`}},
		{"a folder for the source", "rm $1; mkdir $1", gone("sub/two.c")},
		{"shut folders", "mkdir x; echo n > x/n; chmod 000 x inc sub", []string{`x/n "n\n"`}},
		{"folders without search", "mkdir x; echo n > x/n; echo n > inc/n; chmod 600 x inc", []string{`inc/n "n\n"`, `x/n "n\n"`}},
		{"folders without write", "mkdir x; head -c 100000 /dev/zero > x/n; chmod 500 x sub; chmod 500 .", []string{"x/n " + zeros(100_000)}},
		{"the work folder shut", "echo n > n; chmod 000 .", []string{`n "n\n"`}},
		{"everything shut", "echo n > n; chmod 000 ../home ../tmp .. .", []string{`n "n\n"`}},
		{"the work folder removed", "cd ..; rm -r work", everything},
		{"the work folder moved", "mv ../work ../moved; echo n > n", everything},
		{"the work folder made again", "cd ..; rm -r work; mkdir work; echo n > work/n", append(append([]string{}, everything[:5]...),
			append([]string{`n "n\n"`}, everything[5:]...)...)},
		{"a file for the work folder", "cd ..; rm -r work; echo n > work", everything},
		{"a link for the work folder", "cd ..; rm -r work; ln -s home work; echo n > home/HDR_a.h", everything},
		{"home and tmp used", "echo n > $HOME/n; mkdir -p $HOME/.cache/x $TMPDIR/x; echo n > $TMPDIR/x/n; chmod 000 $TMPDIR/x", nil},
		{"home and tmp removed", "rmdir $HOME $TMPDIR", nil},
		{"home and tmp moved", "mv $HOME ../x; mv $TMPDIR ../home", nil},
		{"links for home and tmp", "rmdir $HOME $TMPDIR; ln -s work $HOME; ln -s / $TMPDIR", nil},
		{"too deep in tmp and home", "cd $TMPDIR; " + self("deep", "2500") + "; cd $HOME; " + self("deep", "900") + "; chmod 000 deep", nil},
		{"many files in tmp", "cd $TMPDIR; " + self("many", "3000", "0") + "; mkdir x; cd x; " + self("many", "3000", "0") + "; chmod 000 .", nil},
		{"beyond text in home", `mkdir -p "$HOME/$(printf '\377')/x"; : > "$HOME/$(printf '\377/\376')"`, nil},
		{"files beside the three", "echo n > ../n; mkdir ../x; echo n > ../x/n; ln -s / ../l", nil},
		{"attributes", self("attach", ".", "..", "../home", "../tmp", "inc", "sub", "HDR_a.h"), nil},
		{"deeper than any path", self("deep", "2500"), []string{"output-limit"}},
	}
}

// oddities: other kinds of files, many of them, strange names.
func oddities() []deed {
	long := strings.Repeat("n", 255)
	many := make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprintf("many%05d %s", i, zeros(300))
	}
	return []deed{
		{"named pipes", "mkfifo p; rm HDR_a.h; mkfifo HDR_a.h inc/p", gone("HDR_a.h")},
		{"a socket", self("socket", "s"), nil},
		{"devices", "rm HDR_a.h; mkdir d; { mknod c c 1 3; mknod HDR_a.h b 7 0; mknod d/c c 1 5; } 2> /dev/null; exit 0", gone("HDR_a.h")},
		{"strange names", `printf 1 > "$(printf 'a\nb')"; printf 2 > "$(printf '\377\376')"; printf 3 > ' '; printf 4 > -n; printf 5 > %41; printf 6 > ` + long, []string{
			`  "3"`, `%2541 "5"`, `-n "4"`, `a%0Ab "1"`, long + ` "6"`, `%FF%FE "2"`}},
		{"many files", self("many", "2000", "300"), many},
		{"a folder of the longest path", self("deep", "800"), []string{strings.Repeat("deep/", 800) + `bottom "x"`}},
		{"streams of mode 0", "chmod 0 /proc/self/fd/1 /proc/self/fd/2; echo x", []string{`stdout "x\n"`}},
		{"streams cut and written", "echo long line; truncate -s 2 /dev/stdout; echo x", []string{`stdout "lox\n"`}},
		{"a stream locked", self("lock"), nil},
		{"not locked by the case before", self("lock", "anew"), nil},
		{"a stream without O_APPEND", self("append"), nil},
		{"streams after that", "echo x; echo y >&2", []string{`stdout "x\n"`, `stderr "y\n"`}},
	}
}

func zeros(n int) string { return brief(make([]byte, n)) }
