package test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// This test makes the README's picture: go test -run TestReviewPage -update-picture .
var updatePicture = flag.Bool("update-picture", false, "write docs/review.png anew")

const (
	picture         = "docs/review.png"
	pictureBytesMax = 300_000
)

// TestReviewPage follows a change of a formatter from the record to the accepted golden, with
// decisions in a browser. It takes the picture of that review.
func TestReviewPage(t *testing.T) {
	long(t)
	chromium := require(t, "chromium")
	f := newFolder(t)
	f.changeOfGofmt()
	review, link := f.review()
	p := pageOf(t, chromium, link)
	p.sees("#parts", "any")
	p.keys("F") // each cause by itself
	p.sees("#status", "listed")
	// a few decisions, so that the picture shows them
	for _, key := range []struct{ press, counts string }{{"ja", "1 accepted"}, {"a", "2 accepted"}, {"r", "1 rejected"}, {"s", "1 skipped"}} {
		p.keys(key.press)
		p.sees("#counts", key.counts)
	}
	p.keys("g")
	p.sees("#cause", "G1")
	p.keys("nn")
	p.sees("#all", "3 of")
	p.picture()
	p.keys("A")
	p.sees("#rest", "None undecided")
	p.keys("w")
	p.sees("#ask[open]", "Write this?")
	p.keys("y")
	p.sees("#ask[open]", "put into the golden")
	p.keys("\rq")
	p.sees("#notices", "You have finished, and muster has ended.")
	if err := review.Wait(); err != nil {
		t.Fatal(err)
	}
	// rejected and skipped cases still differ, and nothing else
	left := f.verdicts(f.muster(1, "check", "--format", "json", "--", "gofmt", "-s", "-r", "interface{} -> any", "{in}"))
	if len(left) == 0 || len(left) > 20 {
		t.Errorf("%d cases are left", len(left))
	}
}

// changeOfGofmt makes a run in which gofmt simplifies and rewrites code that it only formatted
// before.
func (f folder) changeOfGofmt() {
	f.Helper()
	goroot, err := exec.CommandContext(f.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		f.Fatal(err)
	}
	root := strings.TrimSpace(string(goroot))
	f.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(root, "bin"))
	src := filepath.Join(root, "src")
	f.pack("src.tar", src, func(path string) bool {
		return slices.ContainsFunc([]string{"cmd/gofmt/testdata", "go/doc/testdata", "go/printer/testdata", "internal/types/testdata/check", "reflect", "sync"},
			func(folder string) bool { return strings.HasPrefix(path, filepath.Join(src, folder)) })
	})
	f.muster(0, "record", "src.tar", "--repeat", "1", "--", "gofmt", "{in}")
	f.muster(1, "check", "-q", "--", "gofmt", "-s", "-r", "interface{} -> any", "{in}")
}

// pack writes the files below root that keep accepts into a tar in f's folder. Names are
// relative to root's parent.
func (f folder) pack(name, root string, keep func(string) bool) {
	f.Helper()
	out, err := os.Create(filepath.Join(f.dir, name))
	if err != nil {
		f.Fatal(err)
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !keep(path) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(root), path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: rel, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	if err := out.Close(); err != nil {
		f.Fatal(err)
	}
}

// review starts the review of the last run, and returns its link.
func (f folder) review() (*exec.Cmd, string) {
	f.Helper()
	path, err := program()
	if err != nil {
		f.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(f.Context(), path, "review", "--web")
	cmd.Dir, cmd.Stderr = f.dir, &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if link := strings.TrimSpace(lines.Text()); strings.HasPrefix(link, "http://") {
			return cmd, link
		}
	}
	f.Fatalf("no link: %v\n%s", cmd.Wait(), stderr.Bytes())
	return nil, ""
}

// A shown page is a page in a browser of its own.
type shownPage struct {
	*testing.T
	ctx context.Context
}

func pageOf(t *testing.T, chromium, link string) *shownPage {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.Env("TMPDIR="+t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800, chromedp.EmulateScale(1.25)), chromedp.Navigate(link)); err != nil {
		t.Fatal(err)
	}
	return &shownPage{t, ctx}
}

// sees waits for a text in an element. The time limit is for a page that hangs.
func (p *shownPage) sees(selector, text string) {
	p.Helper()
	expression := fmt.Sprintf("(document.querySelector(%q)?.innerText ?? '').includes(%q)", selector, text)
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		p.Fatalf("%q in %s: %v", text, selector, err)
	}
}

func (p *shownPage) keys(keys string) {
	p.Helper()
	for _, key := range keys {
		press := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Text: string(key), Key: string(key)}
		if key == '\r' {
			press.Key, press.WindowsVirtualKeyCode = "Enter", 13
		}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, press); err != nil {
			p.Fatal(err)
		}
	}
}

// picture takes the picture and checks that it is not empty. It also checks the README's
// picture.
func (p *shownPage) picture() {
	p.Helper()
	p.sees("#parts:not([aria-busy])", "@@")
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.Fatal(err)
	}
	shot = smaller(p.T, shot)
	if *updatePicture {
		if err := os.WriteFile(picture, shot, 0o644); err != nil {
			p.Fatal(err)
		}
	}
	checkPicture(p.T, shot)
	kept, err := os.ReadFile(picture)
	if err != nil {
		p.Fatal(err)
	}
	checkPicture(p.T, kept)
}

func checkPicture(t *testing.T, shot []byte) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[color.Color]bool{}
	box := img.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			colours[img.At(x, y)] = true
		}
	}
	if len(shot) > pictureBytesMax || box.Dx() != 1600 || len(colours) < 40 {
		t.Errorf("a picture of %d bytes, %d × %d, %d colours", len(shot), box.Dx(), box.Dy(), len(colours))
	}
}

// smaller compresses a picture as much as PNG allows.
func smaller(t *testing.T, shot []byte) []byte {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
