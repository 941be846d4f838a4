package local

import (
	"fmt"
	"strings"
	"testing"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
)

// TestSourceAsNew: whatever a case did to its source, the next one's is a new
// file, with the same name or another, longer, shorter or empty. A source that
// is written over the last one's is not: flags that any user may set raise no
// event.
func TestSourceAsNew(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		for i, d := range sourceDeeds(t.TempDir()) {
			for _, next := range []string{"one.c", []string{"next.c", "empty.c", "sub/two.c"}[i%3]} {
				r.run("one.c", d)
				r.wantNewSource(next, d)
			}
		}
	})
}

// sourceDeeds are scripts that do something to their source.
func sourceDeeds(outside string) []string {
	return []string{
		"", "cat $1", "chmod 600 $1", "chmod 755 $1; chmod 644 $1", "touch -d 2001-01-01 $1", "touch -a $1",
		self("attach", "$1"), self("flag", "64", "$1"), // FS_NODUMP_FL
		"setfacl -m u:1:r $1 2> /dev/null; :", "chown 1:1 $1 2> /dev/null; chown 0:0 $1 2> /dev/null; :",
		"ln $1 l", "ln $1 l; rm l", "ln $1 $HOME/l; chmod 600 $HOME/l; rm $HOME/l",
		"ln $1 " + outside + "/l 2> /dev/null; :", "cp -l $1 $TMPDIR/l; " + self("attach", "$TMPDIR/l"),
		": >> $1", "exec 9<> $1", "(exec 9<> $1; flock 9; exec sleep 86400) &",
		"(setsid sh -c 'exec 9<> '$1'; while :; do echo x >&9; done' &) &",
		self("mmap", "$1"), "mv $1 x; mv x $1", "mv $1 $HOME/x; mv $HOME/x $1",
		"cp $1 x; mv x $1", ": > $1", "truncate -s 100000 $1", "truncate -s 100000 $1; truncate -s 11 $1",
		"fallocate -n -l 1M $1 2> /dev/null; :", "fallocate -p -l 4096 $1 2> /dev/null; :",
		"rm $1", "rm $1; mkdir $1", "rm $1; ln -s HDR_a.h $1", "mv HDR_a.h $1", "ln -f HDR_a.h $1", "rm $1; mkfifo $1", "chmod 0 $1; chmod 0 .",
	}
}

// wantNewSource wants the source of a case to be as its corpus has it, and of
// nobody else's making.
func (r *rig) wantNewSource(name, after string) {
	r.Helper()
	r.wantClean(name)
	result, err := r.try(name, "exec "+self("flags", "$1"))
	must(r, err)
	defer result.Release()
	if got := fmt.Sprint(r.tell(result)); got != `[exit 0 stdout "0 1\n"]` {
		r.Errorf("after %q %s has flags or links: %s", after, name, got)
	}
}

// TestSourceReplaced: a run may have other bytes in the place of the source's, whether
// that is given to all or not, and however many they are; the next run of it has its own.
func TestSourceReplaced(t *testing.T) {
	context := func(t testing.TB) *corpus.Corpus {
		c, err := corpus.Open(t.Context(), corpus.Options{Path: usual(t).File().Name(), Context: []string{"one.c"}})
		must(t, err)
		t.Cleanup(func() { must(t, c.Close()) })
		return c
	}
	inBothModes(t, context, func(r *rig) {
		for _, source := range []string{"one.c", "sub/two.c", "empty.c"} {
			for _, body := range []string{"", "other\n", strings.Repeat("much ", 40_000)} {
				// Left alone, written back as it is, altered, and gone.
				for _, deed := range []string{":", "cp $1 x; cat x > $1; rm x", "echo more >> $1", "rm $1"} {
					job := r.job(source, "cat $1; "+deed)
					job.Content = []byte(body)
					result, err := exec.Run(t.Context(), r.crew, job)
					must(r, err)
					want := []string{"exit 0"}
					if body != "" {
						want = append(want, "stdout "+brief([]byte(body)))
					}
					switch deed {
					case "echo more >> $1":
						want = append(want, source+" "+brief([]byte(body+"more\n")))
					case "rm $1":
						want = append(want, source+" gone")
					}
					r.want(r.tell(result), want...)
					result.Release()
					r.wantClean("next.c")
				}
			}
			r.wantClean(source)
		}
	})
}

// TestTimes: a case finds all that a lane placed at one time, whatever earlier cases did. What it
// changes itself has the real time.
func TestTimes(t *testing.T) {
	const look = `find . -exec stat -c '%n %Y' {} + | sed 's/ 1577836800$//' | sort; stat -c %X $1`
	inBothModes(t, usual, func(r *rig) {
		r.want(r.run("one.c", "stat -c '%Y %X' $1 HDR_a.h"), "exit 0", `stdout "1577836800 2145916800\n1577836800 2145916800\n"`)
		for _, earlier := range []string{
			"cat * >/dev/null 2>&1", "touch HDR_a.h inc/deep/HDR_c.h", "touch inc", "echo x > inc/new", "echo x >> inc/HDR_b.h", "rm inc/HDR_b.h",
			"mkdir inc/d; rmdir inc/d; echo x > other/gone; rm other/gone", "rm -r inc; mkdir inc", "ln inc/HDR_b.h other/n; touch other/n", "ln -sf other link",
			"mv inc away", "echo x > $HOME/n; rm -r ../work",
		} {
			for _, name := range []string{"one.c", "sub/deep/three.c"} {
				r.run(name, earlier)
				got := r.run("next.c", look)
				r.want(got, "exit 0", `stdout ".\n./HDR_a.h\n./HDR_tool.sh\n./inc\n./inc/HDR_b.h\n./inc/deep\n./inc/deep/HDR_c.h\n./link\n./next.c\n./other\n./other/HDR_b.h\n2145916800\n"`)
			}
		}
		r.want(r.run("sub/deep/three.c", "stat -c %Y . sub sub/deep $1"), "exit 0", `stdout "1577836800\n1577836800\n1577836800\n1577836800\n"`)
		r.want(r.run("one.c", `touch $1 n; for f in $1 n .; do test $f -nt HDR_a.h && echo $f; done`), "exit 0", `stdout "one.c\nn\n.\n"`, `n ""`)
	})
}
