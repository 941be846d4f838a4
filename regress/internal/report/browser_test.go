package report

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"muster/regress"
)

// A tab is a page in a browser without a window, and what the browser said of it.
type tab struct {
	*testing.T
	ctx context.Context

	mu      sync.Mutex
	trouble []string
}

// browse opens a file in Chromium.
func browse(t *testing.T, path string) *tab {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal("no chromium: scripts/install-test-tools, run as root, installs what tests need")
		}
		t.Skip("no chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.Env("TMPDIR="+t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx}
	// It makes the tab, which ends with the context that it is made in.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1200, 900)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate("file://" + path))
	return b
}

// heard keeps what a page must not do: complain, or ask for anything but itself.
func (b *tab) heard(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file://") && !strings.HasPrefix(e.Request.URL, "data:image/png;base64,") {
			b.trouble = append(b.trouble, "it asks for "+e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		b.trouble = append(b.trouble, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.trouble = append(b.trouble, "console."+string(e.Type))
	case *log.EventEntryAdded:
		b.trouble = append(b.trouble, e.Entry.Text+" "+e.Entry.URL)
	}
}

// stuck is how long a page may take for anything at all: a test that waits for what never
// comes ends, and none measures by it.
const stuck = 60 * time.Second

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stuck)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// act does something on the page, as a click there would.
func (b *tab) act(statement string) {
	b.Helper()
	b.until("(() => { " + statement + "; return true; })()")
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stuck)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(0))); err != nil {
		b.Fatalf("%s: %v, %q", expression, err, b.trouble)
	}
}

func (b *tab) number(expression string) float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stuck)
	defer cancel()
	n, err := chromedp.Run(ctx, chromedp.Evaluate[float64](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return n
}

// reduceMotion makes the system one that asks for less motion.
func (b *tab) reduceMotion() {
	b.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
		return none, err
	})
}

// pictureWith is a PNG of one colour.
func pictureWith(c color.Color) []byte {
	img := image.NewPaletted(image.Rect(0, 0, 64, 32), color.Palette{c})
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return b.Bytes()
}

// The page as people use it, of a run in which hundreds of cases differ.
func TestHTMLInABrowser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	run := withCauses(longRun("check", 600, 2), 12)
	at := slices.IndexFunc(run, func(ev Event) bool { c, is := ev.(Case); return is && c.Verdict == regress.Changed })
	changed := run[at].(Case)
	changed.Differences = append(changed.Differences, Difference{Part: "a.png", Binary: true, Contents: contentsOf(pictureWith(color.White), pictureWith(color.Black))})
	run[at] = changed
	writeReport(t, NewHTML, path, run)
	b := browse(t, path)
	const shown = "[...document.querySelectorAll('.cases > li')].filter((li) => li.checkVisibility()).length"

	// On a telephone the page fits the screen, and the table of causes has its three main columns.
	for _, screen := range []struct{ width, height, columns int64 }{{390, 844, 3}, {768, 1024, 3}, {1200, 900, 7}} {
		b.do(chromedp.EmulateViewport(screen.width, screen.height))
		b.until(fmt.Sprintf("innerWidth === %d", screen.width))
		if n := b.number("document.documentElement.scrollWidth"); int64(n) > screen.width {
			t.Errorf("the page is %v wide on a screen of %d", n, screen.width)
		}
		if n := b.number("[...document.querySelectorAll('.all th[scope=col]')].filter((e) => e.checkVisibility()).length"); int64(n) != screen.columns {
			t.Errorf("the table of causes shows %v columns on a screen of %d", n, screen.width)
		}
	}

	// So many cases stay folded until somebody wants to see them.
	b.until("document.querySelectorAll('.cases > li').length === 300")
	b.until("!document.querySelector('details.verdict').open")
	b.until("document.querySelectorAll('.cases span.put-in').length === 0")

	// Two pictures are side by side, one over the other, or take turns. No script is needed for that.
	const now = "document.querySelector('.pictures figure + figure')"
	b.act("document.querySelector('details.verdict').open = true; document.querySelector('.pictures').closest('details').open = true")
	b.until("[...document.querySelectorAll('.pictures img')].length === 2 && [...document.querySelectorAll('.pictures img')].every((i) => i.complete && i.naturalWidth === 64)")
	b.until("getComputedStyle(" + now + ").mixBlendMode === 'normal'")
	b.act("document.querySelector('.pictures [value=blend]').click()")
	b.until("getComputedStyle(" + now + ").mixBlendMode === 'difference'")
	b.act("document.querySelector('.pictures [value=flicker]').click()")
	b.until("getComputedStyle(" + now + ").animationName === 'flicker'")
	b.reduceMotion()
	b.until("getComputedStyle(" + now + ").animationName === 'none'")
	b.act("document.querySelector('details.verdict').open = false")

	// A cause shows its cases, and the filter takes names, too.
	b.act("document.querySelector('button[data-cause=G3]').click()")
	b.until("document.querySelector('#filter').value === 'G3' && document.activeElement.id === 'filter'")
	b.until("document.querySelector('#found').textContent === '100 of 300 cases'")
	if n := b.number(shown); n != 100 {
		t.Errorf("%v cases of G3 are shown", n)
	}
	if _, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: " case0003"}); err != nil {
		t.Fatal(err)
	}
	b.until("document.querySelector('#found').textContent === '1 of 300 cases'")

	// What is unfolded is coloured.
	b.act("document.querySelector('.cases > li:not([hidden]) summary').click()")
	b.until("document.querySelectorAll('.cases > li:not([hidden]) span.put-in').length === 1")
	b.until("document.querySelector('.cases > li:not([hidden]) span.put-in').textContent === '+3\\n'")

	// A link to a case unfolds it and what it stands in, whatever the filter hides.
	b.act("document.querySelector(`a[href='#case-300']`).click()")
	b.until("document.getElementById('case-300').querySelector('details').open")
	if n := b.number(shown); n != 300 {
		t.Errorf("%v cases are shown after a link", n)
	}

	// On paper the causes are unfolded, without the controls.
	b.until("document.querySelectorAll('details.cause:not([open])').length === 2")
	b.act("dispatchEvent(new Event('beforeprint'))")
	b.until("document.querySelectorAll('details.cause:not([open])').length === 0")

	// Each control has a name for those who hear the page.
	b.until(`[...document.querySelectorAll('button, input, summary, a')].every((e) => (e.computedName ?? (e.labels?.[0] ?? e).textContent).trim() !== '')`)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.trouble) > 0 {
		t.Errorf("the page complains: %s", fmt.Sprint(b.trouble))
	}
}
