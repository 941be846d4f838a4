package local

import (
	"os"
	"strings"
	"testing"
)

// TestRunFolderHidden: a case that clears, alters and shuts whatever it finds where
// lanes are reaches neither another lane nor what a case before it left.
func TestRunFolderHidden(t *testing.T) {
	inAllModes(t, func(r *rig) {
		if r.crew.o.plain {
			return // all lanes are open to whoever is the same user
		}
		before := r.crew.started.Load()
		large, err := r.try("next.c", "head -c 100000 /dev/zero > large")
		must(r, err)
		dir := r.crew.base.dir
		script := "exec 2> /dev/null; ls -A DIR DIR/000; rm -rf DIR/* DIR; chmod 777 DIR; for f in DIR/000.out1/*; do echo evil > $f; done; (: > DIR/x); exit 0"
		r.want(r.run("one.c", strings.ReplaceAll(script, "DIR", dir)), "exit 0", `stdout "`+dir+`:\n"`)
		r.want(r.tell(large), "exit 0", "large "+zeros(100_000))
		large.Release()
		r.wantClean("next.c")
		if more := r.crew.started.Load() - before; more > 0 && !underRace {
			r.Errorf("%d helpers more", more)
		}
		if _, err := os.Lstat(dir + "/" + lockName); err != nil {
			r.Error(err)
		}
	})
}
