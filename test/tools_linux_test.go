package test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tools is the number of random tools. make long asks for more.
var tools = flag.Int("tools", 6, "how many random tools TestRandomTools makes")

// aTool is a shell's script that uses other files, by chance. Its cases are a to f.
type aTool struct {
	folder
	r       *rand.Rand
	used    map[string][]string // paths below the folder, by the case that uses them; "" = all cases
	unused  []string
	observe string
}

// The cases that are observed before --jobs 1 comes to case e, which waits.
func (tool *aTool) observed() []string {
	if tool.observe == "all" {
		return []string{"", "a", "b", "c", "d", "f"}
	}
	return []string{"", "a", "c", "f"}
}

// usage is a way to use a path: the line of a shell's script, and what is there before.
type usage struct {
	line string
	kind string // "file", "interpreter", "absent" or "folder"
}

func usages() []usage {
	return []usage{
		{"cat %s > /dev/null", "file"}, {"test -e %s", "file"}, {". %s", "file"}, {"%s", "file"}, {"sh %s", "file"}, {"wc -c < %s > /dev/null", "file"},
		{"test ! -e %s", "absent"}, {"cat %s 2> /dev/null || :", "absent"}, {"ls %s > /dev/null", "folder"},
		{"%s-script", "interpreter"},
	}
}

// newTool makes a tool. Each path is used in one way by one case or by all.
func newTool(t *testing.T, r *rand.Rand) *aTool {
	tool := &aTool{folder: newFolder(t), r: r, used: map[string][]string{}, observe: []string{"some", "all"}[r.IntN(2)]}
	lines := map[string][]string{}
	for i := range 12 {
		u := usages()[r.IntN(len(usages()))]
		name := fmt.Sprintf("lib%d/%s%d", i, u.kind, i)
		user := []string{"", "a", "b", "c", "d", "f"}[r.IntN(6)]
		switch u.kind {
		case "file":
			tool.write(name, "#!/bin/sh\n:\n", 0o755)
			if r.IntN(4) == 0 { // a link leads to it
				tool.write("store/"+filepath.Base(name), "#!/bin/sh\n:\n", 0o755)
				if err := errors.Join(os.Remove(filepath.Join(tool.dir, name)), os.Symlink("../store/"+filepath.Base(name), filepath.Join(tool.dir, name))); err != nil {
					t.Fatal(err)
				}
			}
		case "interpreter": // of a script beside it: only the kernel opens it
			program, err := os.ReadFile("/bin/true")
			if err != nil {
				t.Fatal(err)
			}
			tool.write(name, string(program), 0o755)
			tool.write(name+"-script", "#!"+filepath.Join(tool.dir, name)+"\n", 0o755)
		case "absent":
			if r.IntN(2) == 0 { // its folder is there
				tool.write(fmt.Sprintf("lib%d/other", i), "", 0o644)
			}
		case "folder":
			tool.write(name+"/one", "", 0o644)
		}
		if r.IntN(6) == 0 {
			tool.unused = append(tool.unused, name)
			continue
		}
		tool.used[user] = append(tool.used[user], name)
		lines[user] = append(lines[user], fmt.Sprintf(u.line, "$dir/"+name))
	}
	script := "#!/bin/sh\ndir=${0%/*}\nif test $1 = e && test -p \"$READY\"; then echo > \"$READY\"; sleep 60; fi\n" + strings.Join(lines[""], "\n") + "\ncase $1 in\n"
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		tool.write("src/"+name, name+"\n", 0o644)
		script += name + ")\n:\n" + strings.Join(lines[name], "\n") + "\n;;\n"
	}
	tool.write("tool", script+"esac\ncat $1\n", 0o755)
	return tool
}

// pick returns a path that observed cases use, or "".
func (tool *aTool) pick() string {
	var all []string
	for _, user := range tool.observed() {
		all = append(all, tool.used[user]...)
	}
	if len(all) == 0 {
		return ""
	}
	return all[tool.r.IntN(len(all))]
}

// change changes what is at a path, and says how.
func (tool *aTool) change(name string) (how string) {
	tool.Helper()
	path := filepath.Join(tool.dir, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		tool.write(name, "appeared\n", 0o644)
		return "appeared"
	case err != nil:
		tool.Fatal(err)
	case info.IsDir():
		tool.write(name+"/two", "", 0o644)
		return "a name more"
	}
	switch how = []string{"written", "same size and time", "replaced", "gone", "another link"}[tool.r.IntN(5)]; how {
	case "written":
		err = os.WriteFile(path, []byte("#!/bin/sh\n:\n:\n"), 0o755)
	case "same size and time":
		err = errors.Join(os.WriteFile(path, []byte("#!/bin/sh\n \n"), 0o755), os.Chtimes(path, info.ModTime(), info.ModTime()))
	case "replaced":
		tool.write(name+".new", "#!/bin/sh\n#\n", 0o755)
		err = os.Rename(path+".new", path)
	case "gone":
		err = os.Remove(path)
	case "another link":
		tool.write("elsewhere", "#!/bin/sh\n##\n", 0o755)
		err = errors.Join(os.Remove(path), os.Symlink(filepath.Join(tool.dir, "elsewhere"), path))
	}
	if err != nil {
		tool.Fatal(err)
	}
	return how
}

// interrupt starts a check and interrupts it when the tool is at case e.
func (tool *aTool) interrupt() {
	tool.Helper()
	muster, err := program()
	ready := filepath.Join(tool.dir, "ready")
	if err := errors.Join(err, syscall.Mkfifo(ready, 0o600)); err != nil {
		tool.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tool.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	check := exec.CommandContext(ctx, muster, "check", "--cost-cases", "0", "--jobs", "1", "--pass-env", "READY", "--observe", tool.observe)
	check.Dir, check.Stdout, check.Stderr = tool.dir, &out, &out
	check.Env = append(os.Environ(), "READY="+ready)
	if err := check.Start(); err != nil {
		tool.Fatal(err)
	}
	pipe, err := os.OpenFile(ready, os.O_RDWR, 0) // does not wait for the other side
	if err != nil {
		tool.Fatal(err)
	}
	defer pipe.Close()
	if _, err := pipe.Read(make([]byte, 1)); err != nil {
		tool.Fatal(err)
	}
	if err := check.Process.Signal(syscall.SIGTERM); err != nil {
		tool.Fatal(err)
	}
	if err := check.Wait(); check.ProcessState.ExitCode() != 130 && check.ProcessState.ExitCode() != 143 {
		tool.Fatalf("%v\n%s", err, out.Bytes())
	}
	if err := os.Remove(ready); err != nil {
		tool.Fatal(err)
	}
}

// resume goes on with the interrupted check.
func (tool *aTool) resume() ended {
	tool.Helper()
	tool.Setenv("READY", filepath.Join(tool.dir, "ready"))
	return tool.try("check", "--resume", "--cost-cases", "0", "--pass-env", "READY", "--observe", tool.observe)
}

// TestRandomTools changes one path that observed cases of a tool use. --resume must refuse that with
// the path, and a check must name it unless it is a folder. A path that no case uses must not matter.
func TestRandomTools(t *testing.T) {
	long(t)
	seed := chosenSeed()
	for i := range *tools {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Logf("-seed %d", seed)
			tool := newTool(t, rand.New(rand.NewPCG(seed, uint64(i))))
			tool.muster(0, "record", "src", "--observe", tool.observe, "--", "./tool", "{in}")
			name := tool.pick()
			if name == "" {
				return
			}
			text, err := os.ReadFile(filepath.Join(tool.dir, "tool"))
			if err != nil {
				t.Fatal(err)
			}
			about := fmt.Sprintf("--observe %s, %s\n%s", tool.observe, name, text)

			tool.interrupt()
			for _, other := range tool.unused {
				tool.change(other)
			}
			if got := tool.resume(); got.status != 0 {
				t.Fatalf("a change of %q: %s%s\n%s", tool.unused, got.stdout, got.stderr, about)
			}

			tool.interrupt()
			_, err = os.Stat(filepath.Join(tool.dir, name))
			isFolder := err == nil && strings.Contains(name, "folder")
			how := tool.change(name)
			got := tool.resume()
			if want := filepath.Join(tool.dir, name); got.status != 2 || !strings.Contains(string(got.stderr), "muster: --resume: "+want) {
				t.Errorf("%s: ended with %d: %s%s\n%s", how, got.status, got.stdout, got.stderr, about)
			}
			if isFolder {
				return
			}
			got = tool.try("check", "--cost-cases", "0", "--observe", tool.observe)
			line := "tool changed since the golden: " + filepath.Join(tool.dir, name)
			if !slices.ContainsFunc(strings.Split(string(got.stdout), "\n"), func(l string) bool { return strings.HasPrefix(l, line) }) {
				t.Errorf("%s: the check does not name it: %s%s\n%s", how, got.stdout, got.stderr, about)
			}
		})
	}
}
