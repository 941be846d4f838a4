package reapi

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/lane"
	"muster/test/kits/reapitest"
)

// engine starts the one that scripts/remote-engine installs, and connects to it; or it
// connects to another, whose workers have gcc, at the address of MUSTER_TEST_ENGINE.
func engine(t *testing.T) *client.Client {
	t.Helper()
	url := os.Getenv("MUSTER_TEST_ENGINE")
	if url == "" {
		port := reapitest.FreePort(t)
		reapitest.Installed(t, "../../../../scripts/remote-engine", port, t.TempDir())
		url = "grpc://127.0.0.1:" + port
	}
	c, err := client.Dial(t.Context(), client.Options{URL: url, Jobs: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// What tools may do in their work folder, and how they may end.
var deeds = []string{
	"gcc -S $1 -o out.s",
	"mkdir -p new/empty new/full; echo x >new/full/f",
	"rm HDR_a.h $1",
	"rm -r inc",
	"rm link; mkdir link; echo 1 >link/a",
	"echo z >>inc/HDR_b.h; touch HDR_a.h e",
	"cp inc/HDR_b.h t; rm inc/HDR_b.h; mv t inc/HDR_b.h; chmod +x inc/HDR_b.h", // as it was
	"chmod -x inc/HDR_b.h; chmod +x $1",
	"ln -s HDR_a.h l; ln -s /etc/passwd abs; ln -s none dangling; ln HDR_a.h hard; mkfifo p",
	"rm HDR_a.h; mkdir HDR_a.h; echo 1 >HDR_a.h/x",
	"rm -r inc; echo f >inc",
	"mv inc x; ln -s x inc",
	"rm -r inc; ln -s sub inc; mkdir sub; cp HDR_a.h sub/HDR_b.h",
	"echo s >f; chmod 755 f; echo t >g; chmod 0 g; umask 077; mkdir d; echo 1 >d/x; chmod 0 d",
	"echo error >&2; echo output; exit 7",
	"kill -SEGV $$",
	"sleep 100",
	"head -c 2000000 /dev/zero",
	"head -c 2000000 /dev/zero >big",
	"rm -rf ../work/*",
	"cat; echo 'a b' >'sp ace'; echo u >é",
	"echo $0 $#; umask",
	`echo x >"$(printf 'o\377')"; ln -s "$(printf 'to\376')" "$(printf 'l\375')"; mkdir "$(printf 'd\374')"; echo y >"$(printf 'd\374/f')"`,
}

// patience is what a deed may take: to set up a sandbox can take a second on a busy machine.
const patience = 5 * time.Second

// What is too much for a lane is too much from an engine.
func TestFilesMax(t *testing.T) {
	if tree.FilesMax != lane.FilesMax {
		t.Errorf("a case may leave %d files on an engine and %d in a lane", tree.FilesMax, lane.FilesMax)
	}
}

// The same case has the same outcome on an engine as in a lane.
func TestEngineAndLaneAgree(t *testing.T) {
	onEngine := engine(t)
	c := withDeedsIn(t)
	crew, err := local.Start(t.Context(), local.Options{
		Lanes: 2, Helper: []string{os.Args[0], lane.Argument}, Corpus: c, Timeout: patience, Grace: time.Second, OutputMax: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := crew.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := setting()
	s.Timeout, s.OutputMax = patience, 1<<20
	command, err := exec.Resolve([]string{"/bin/sh", "-c", "x", "sh", "{in}"}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	g, err := readSharedInputs(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Make(t.Context(), bundle.Options{Command: command})
	if err != nil {
		t.Fatal(err)
	}
	a, err := newActionBuilder(g, b, s)
	if err != nil {
		t.Fatal(err)
	}
	a.whole = dotPath
	if err := onEngine.Upload(t.Context(), slices.Collect(a.sharedBlobs)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, deed := range deeds {
		wg.Go(func() {
			its := *command
			its.Words = []string{"/bin/sh", "-c", deed, "sh", "{in}"}
			job := exec.Job{Source: c.Cases()[0], Command: &its, Avoid: exec.NoLane}
			here, err := exec.Run(t.Context(), crew, job)
			there, err2 := runOn(t, onEngine, a, job)
			if err := errors.Join(err, err2); err != nil {
				t.Errorf("%q: %v", deed, err)
				return
			}
			if here.Outcome.Digest() != there.Outcome.Digest() {
				t.Errorf("%q:\nin a lane     %.400s\non an engine  %.400s", deed, shown(t, here), shown(t, there))
			}
			here.Release()
			there.Release()
		})
	}
	wg.Wait()
}

// withDeedsIn is a corpus with something for all deeds.
func withDeedsIn(t *testing.T) *corpus.Corpus {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.MkdirAll(at("inc/deep"), 0o755),
		os.WriteFile(at("HDR_a.h"), []byte("int a;\n"), 0o644),
		os.WriteFile(at("inc/HDR_b.h"), []byte("int b;\n"), 0o755),
		os.WriteFile(at("inc/deep/HDR_c.h"), nil, 0o644),
		os.WriteFile(at("main.c"), []byte("#include \"HDR_a.h\"\nint main(void) { return a; }\n"), 0o644),
		os.Symlink("inc", at("link")),
	)
	c, err2 := corpus.Open(t.Context(), corpus.Options{Path: dir})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func runOn(t *testing.T, c *client.Client, a *actionBuilder, job exec.Job) (*exec.Result, error) {
	x, err := a.build(job)
	if err != nil {
		return nil, err
	}
	if err := c.Upload(t.Context(), x.blobs); err != nil {
		return nil, err
	}
	response, err := c.Execute(t.Context(), client.Execution{Action: x.digest})
	if err != nil {
		return nil, err
	}
	resp, err := responseOf(response)
	if err != nil {
		return nil, err
	}
	return x.resultOf(t.Context(), resp, contentStore{read: c.Read, open: c.Open})
}
