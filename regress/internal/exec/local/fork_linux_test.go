package local

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/forkserver"
)

// forkTool does what its source says.
const forkTool = `
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **args) {
	char word[20];
	if (count == 3) poll(0, 0, 1500);
	printf("buffered ");
	FILE *f = fopen(args[1], "r");
	if (!f || fscanf(f, "%19s", word) != 1) return 9;
	printf("%s\n", word);
	if (!strcmp(word, "count")) {
		int n = 0;
		DIR *proc = opendir("/proc");
		for (struct dirent *e; (e = readdir(proc));) n += *e->d_name >= '1' && *e->d_name <= '9';
		printf("%d\n", n);
	}
	if (!strcmp(word, "slow")) poll(0, 0, 1500);
	if (!strcmp(word, "loop")) for (;;) pause();
	if (!strcmp(word, "rest") && fork() == 0) { setsid(); for (;;) pause(); }
	if (!strcmp(word, "gone")) { remove("in.txt"); rmdir("../work"); }
	if (!strcmp(word, "folder")) { rmdir("../tmp"); mkdir("made", 0700); fclose(fopen("made/x", "w")); }
	return 0;
}
`

// shimFolder is removed after all tests. It is "" if none needs the shim.
var shimFolder string

// builtShim compiles the shim once for all tests.
var builtShim = sync.OnceValues(func() (shim string, err error) {
	if shimFolder, err = os.MkdirTemp("", "muster-shim-"); err != nil {
		return "", err
	}
	return forkserver.Build(context.Background(), shimFolder)
})

func shimOf(t *testing.T) string {
	t.Helper()
	shim, err := builtShim()
	if errors.As(err, new(*exec.NoServer)) {
		needed(t, err.Error())
	}
	must(t, err)
	return shim
}

// forkRig starts lanes that make forks of the tool.
func forkRig(t *testing.T, change ...func(*Options)) (*rig, *exec.Command) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	must(t, os.WriteFile(tool+".c", []byte(forkTool), 0o600))
	if out, err := osexec.CommandContext(t.Context(), "cc", "-w", "-o", tool, tool+".c").CombinedOutput(); err != nil {
		needed(t, "cc: "+err.Error()+string(out))
	}
	shim := shimOf(t)
	var files []file
	for _, word := range []string{"plain", "loop", "rest", "folder", "gone", "slow", "count"} {
		files = append(files, file{name: word, body: word + "\n"})
	}
	r := newRig(t, pack(t, files...), append([]func(*Options){func(o *Options) {
		o.Shim, o.Timeout, o.Grace = shim, time.Second, time.Second
	}}, change...)...)
	c, err := exec.Resolve([]string{tool, "{in}"}, false, false)
	must(t, err)
	c.As = "in.txt"
	return r, c
}

// A fork leaves nothing for the next one, whatever it does, and a plain run nothing for a fork.
func TestForksBetweenPlainRuns(t *testing.T) {
	r, c := forkRig(t)
	run := func(name string, fork, newServer bool) []string {
		t.Helper()
		result, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry(name), Command: c, Avoid: exec.NoLane, Fork: fork, NewServer: newServer})
		must(t, err)
		defer result.Release()
		return r.tell(result)
	}
	for _, name := range []string{"plain", "rest", "folder", "gone"} {
		want := run(name, false, false)
		for range 2 {
			r.want(run(name, true, false), want...)
			r.want(run("count", true, false), "exit 0", `stdout "buffered count\n2\n"`) // the init and the fork
			r.want(run(name, true, true), want...)
			r.want(run("plain", true, false), run("plain", false, false)...)
		}
	}
	// A limit ends the server too. The next fork has another.
	for range 2 {
		result, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry("loop"), Command: c, Avoid: exec.NoLane, Fork: true})
		must(t, err)
		if result.Outcome.Ending.Kind != regress.TimedOut {
			t.Errorf("loop: %s", result.Outcome.Ending)
		}
		result.Release()
		r.want(run("plain", true, false), run("plain", false, false)...)
	}
}

// The time before the stop counts for every fork. So a fork has the limits of a plain run.
func TestForkTimesOutAsPlainRun(t *testing.T) {
	r, c := forkRig(t, func(o *Options) { o.Timeout = 2900 * time.Millisecond })
	c.Words = append(c.Words, "start slowly")
	for _, name := range []string{"slow", "plain"} {
		for _, fork := range []bool{false, true} {
			result, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry(name), Command: c, Avoid: exec.NoLane, Fork: fork})
			must(t, err)
			if late := result.Outcome.Ending.Kind == regress.TimedOut; late != (name == "slow") {
				t.Errorf("%s, fork %t: %s", name, fork, result.Outcome.Ending)
			}
			result.Release()
		}
	}
}

// Without namespaces there is no fork server.
func TestNoForksWithoutNamespaces(t *testing.T) {
	r, c := forkRig(t, plainly)
	_, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry("plain"), Command: c, Avoid: exec.NoLane, Fork: true})
	if !errors.As(err, new(*exec.NoServer)) {
		t.Errorf("a fork: %v", err)
	}
}
