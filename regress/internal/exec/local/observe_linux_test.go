package local

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/exec"
	"muster/regress/lane/observe"
)

// canObserve ends a test of a build that cannot observe.
func canObserve(t *testing.T) {
	t.Helper()
	if !observe.Supported {
		needed(t, "this build cannot observe")
	}
}

// observed runs a script for a case under observation.
func (r *rig) observed(name, text string) *observe.Observation {
	r.Helper()
	job := r.job(name, text)
	job.Observe = true
	result, err := exec.Run(context.Background(), r.crew, job)
	must(r, err)
	defer result.Release()
	if result.Observed == nil {
		r.Fatal("no observation")
	}
	return result.Observed
}

// usesOf returns the accesses below a folder, as text.
func usesOf(o *observe.Observation, dir string) (list []string) {
	kinds := map[string]observe.Kind{}
	for _, a := range o.Accesses {
		if below, ok := strings.CutPrefix(a.Path, dir+"/"); ok {
			kinds[below] |= a.Kind
		}
	}
	for below, kind := range kinds {
		list = append(list, use(below, kind))
	}
	slices.Sort(list)
	return list
}

func use(path string, kind observe.Kind) string { return fmt.Sprintf("%s %06b", path, kind) }

// A command's files are seen, and those of its lane are not.
func TestObserve(t *testing.T) {
	canObserve(t)
	dir := shared(t)
	for _, f := range []string{"read", "asked", "list/entry", "tool", "moved/file", "byproc"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, f), []byte("#!/bin/sh\n:\n"), 0o755))
	}
	must(t, os.Symlink("read", filepath.Join(dir, "link")))
	inBothModes(t, usual, func(r *rig) {
		o := r.observed("one.c", fmt.Sprintf(`cd %[1]s && cat read >/dev/null; cat link >/dev/null; test -e asked; test -e absent
ls list >/dev/null; ./tool; echo x > written; cat moved/../moved//file > /dev/null
cd - >/dev/null; ls .. ../.. >/dev/null; cat "$1" HDR_a.h > "$TMPDIR/own"; cat /proc/uptime > /dev/null
ln -s %[1]s out; cat out/list/entry > d; ln -s out/moved/./ on; cat on/file > d; cat absent-here out/../absent-here; rm out on
cat < /proc/self/root%[1]s/read; cd %[1]s/"absent folder"; cat "$PWD/$1" > d
ln -s /proc/self/root%[1]s/byproc kept; cat kept > d 2>&1; rm kept
touch %[1]s/far; mv %[1]s/far %[1]s/far2; rm %[1]s/far2; exit 0`, dir))
		if o.Blind != "" || o.Contact != "" || o.Events == 0 {
			r.Errorf("blind %q, contact %q, %d events", o.Blind, o.Contact, o.Events)
		}
		if want := !r.crew.mode.isolates() && os.Geteuid() != 0; o.NoPrivileges != want {
			r.Errorf("no privileges: %v, want %v", o.NoPrivileges, want)
		}
		const executed, opened, asked, listed, written = observe.Executed, observe.Opened, observe.Asked, observe.Listed, observe.Written
		r.want(usesOf(o, dir),
			use("../absent-here", opened),
			use("absent", asked),
			use("absent folder", asked),
			use("asked", asked),
			use("byproc", opened|asked),
			use("far", opened|written),
			use("far2", asked|written),
			use("link", opened),
			use("list", opened|asked|listed),
			use("list/entry", opened),
			use("moved/../moved/file", opened),
			use("moved/file", opened),
			use("read", opened),
			use("tool", executed|opened),
			use("written", written))
		for _, a := range o.Accesses {
			if strings.HasPrefix(a.Path, "/proc") || strings.HasPrefix(a.Path, "/dev") || strings.Contains(a.Path, "one.c") || strings.HasPrefix(a.Path, covered) {
				r.Errorf("%+v is not outside", a)
			}
		}
		must(r, os.Remove(filepath.Join(dir, "written")))
		r.wantClean("next.c")
	})
}

// What the command does, and how it ends, is as without observation.
func TestObservedOutcome(t *testing.T) {
	canObserve(t)
	inBothModes(t, usual, func(r *rig) {
		const text = `cat "$1" > out; (sleep 100 & ) ; mkdir d; echo y > d/f; ls .. ; exit 3`
		plain := r.run("one.c", text)
		job := r.job("one.c", text)
		job.Observe = true
		result, err := exec.Run(context.Background(), r.crew, job)
		must(r, err)
		defer result.Release()
		r.want(r.tell(result), plain...)
	})
}

// pythonDoes observes lines of Python.
func (r *rig) pythonDoes(lines string) *observe.Observation {
	r.Helper()
	python, err := osexec.LookPath("python3")
	if err != nil {
		needed(r, "no python3")
	}
	return r.observed("one.c", "exec "+python+" -c '"+lines+"'")
}

// A connection to a process outside is seen.
func TestObservedContact(t *testing.T) {
	canObserve(t)
	r := newRig(t, usual(t))
	server := filepath.Join(t.TempDir(), "server")
	for text, want := range map[string]string{
		`s=socket.socket(); s.connect_ex(("127.0.0.1", 9))`:                                                                   "an internet address, port 9",
		`s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("127.0.0.1", 9))`:                                "an internet address, port 9",
		`s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendmsg([b"x"], [], 0, ("127.0.0.1", 9))`:                      "an internet address, port 9",
		`s=socket.socket(socket.AF_INET); s.bind(("127.0.0.1", 0)); a,b=socket.socketpair(); a.send(b"x"); a.sendmsg([b"x"])`: "",
		`s=socket.socket(socket.AF_UNIX); s.bind("own"); s.listen(); c=socket.socket(socket.AF_UNIX); c.connect("own")`:       "",
	} {
		o := r.pythonDoes("import socket; " + text)
		if o.Contact != want || o.Blind != "" {
			t.Errorf("%s: contact %q, want %q; blind %q", text, o.Contact, want, o.Blind)
		}
	}
	o := r.pythonDoes(`import socket; s=socket.socket(socket.AF_UNIX); s.connect_ex("` + server + `")`)
	r.want(usesOf(o, filepath.Dir(server)), use("server", observe.Connected))
}

// What the filter cannot follow makes the observation incomplete.
func TestObservedBlind(t *testing.T) {
	canObserve(t)
	r := newRig(t, usual(t))
	const libc = "import ctypes, os; c=ctypes.CDLL(None, use_errno=True); "
	const stops = "the tool itself stops system calls (seccomp with a listener or a tracer)"
	seccomp := fmt.Sprintf("c.syscall(%d, ", observe.SysSeccomp)
	// a filter of one instruction: return that
	filter := func(result uint32) string {
		return libc + fmt.Sprintf("import struct; i=ctypes.create_string_buffer(struct.pack(\"<HBBI\", 6, 0, 0, %d)); ", result) +
			"p=ctypes.create_string_buffer(struct.pack(\"<HxxxxxxQ\", 1, ctypes.addressof(i))); c.prctl(38, 1, 0, 0, 0); "
	}
	for text, want := range map[string]string{
		filter(0x7ff00000) + `c.prctl(22, 2, p, 0, 0)`:                                          stops, // a tracer decides
		filter(0x7fff0000) + seccomp + `1, 8, p)`:                                               stops, // a listener
		filter(0x7fff0000) + seccomp + `1, 0, p)`:                                               "",
		libc + `c.prctl(22, 2, 0, 0, 0)`:                                                        "",
		libc + `c.prctl(22, 2, 1, 0, 0)`:                                                        "", // no address: the call fails
		libc + `c.prctl(15, b"name", 0, 0, 0)`:                                                  "",
		libc + `c.chroot(b"/nothing")`:                                                          "the tool changes its root folder, or mounts a file system",
		libc + `c.syscall(430, b"tmpfs", 0)`:                                                    "the tool changes its root folder, or mounts a file system",
		`import os; f=os.memfd_create("x"); os.write(f, b"#!/bin/sh"); os.execve(f, ["x"], {})`: "the tool uses a folder or a program that has no path",
		`import os; os.mkdir("d"); os.chdir("d"); os.rmdir("../d"); os.path.exists("x")`:        "",
		`open("/proc/self/cwd/x" + 5000 * "x") if 0 else None`:                                  "",
	} {
		if o := r.pythonDoes(text); o.Blind != want {
			t.Errorf("%s: blind %q, want %q", text, o.Blind, want)
		}
	}
	// What a tool does behind a filter of its own is seen.
	o := r.pythonDoes(filter(0x7fff0000) + `c.prctl(22, 2, p, 0, 0); os.path.exists("/behind/the/filter")`)
	r.want(usesOf(o, "/behind"), use("the/filter", observe.Asked))
}

// The paths are those that strace sees.
func TestObserveAgreesWithStrace(t *testing.T) {
	canObserve(t)
	if _, err := osexec.LookPath("strace"); err != nil {
		needed(t, "no strace")
	}
	inBothModes(t, usual, func(r *rig) {
		for _, command := range []string{
			`gcc -x c -S /dev/null -o out.s`,
			`python3 -c 'import json, decimal'`,
			`ls -l /usr /usr/lib`,
			`sh -c 'cd /etc && cat passwd ./hosts ../etc/group; command -v no-such-command; echo *'`,
		} {
			tool, _, _ := strings.Cut(command, " ")
			if _, err := osexec.LookPath(tool); err != nil {
				needed(r, "no "+tool)
			}
			traced, err := r.try("one.c", "strace -f -qq -s 4096 -o log -e 'trace=/^(open|openat|openat2|execve|execveat|.?stat|newfstatat|statx|access|faccessat2?|readlink|readlinkat)$' "+command)
			must(r, err)
			if got := traced.Outcome.Ending.String(); got != "exit 0" && got != "exit 127" {
				r.Fatalf("strace %s: %s", command, got)
			}
			want := map[string]bool{}
			for _, p := range traced.Outcome.Parts {
				if p.Path == "log" {
					addTraced(want, string(r.content(traced, p)))
				}
			}
			traced.Release()
			o := r.observed("one.c", "exec "+command)
			if o.Blind != "" {
				r.Errorf("%s: blind: %s", command, o.Blind)
			}
			got := map[string]bool{}
			for _, a := range o.Accesses {
				got[a.Path] = true
			}
			for path := range want {
				if !got[path] {
					r.Errorf("%s: strace alone saw %s", command, path)
				}
			}
			if len(want) < 5 || len(got) < len(want) {
				r.Errorf("%s: %d paths, and %d by strace", command, len(got), len(want))
			}
		}
	})
}

// addTraced adds the absolute paths of a trace that do not belong to a lane or to the kernel.
func addTraced(paths map[string]bool, trace string) {
	for _, m := range regexp.MustCompile(`(?m)^[^"\n]*"(/[^"]*)"`).FindAllStringSubmatch(trace, -1) {
		path := strings.TrimSuffix(m[1], "/.")
		if path = strings.TrimSuffix(path, "/"); path == "" {
			path = "/"
		}
		inside := strings.HasPrefix(path, Canonical) || path == covered || strings.Contains(path, "/muster") || strings.Contains(path, "/./") || strings.Contains(path, "//")
		if !inside && !strings.HasPrefix(path, "/proc") && !strings.HasPrefix(path, "/dev") && !strings.HasPrefix(path, "/sys") {
			paths[path] = true
		}
	}
}
