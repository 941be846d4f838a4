package web_test

import (
	"context"
	"os"
	"os/exec"
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
)

// chromium starts a browser without a window for a test and those below it.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal("no chromium: scripts/install-test-tools, run as root, installs what tests need")
		}
		t.Skip("no chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.Env("TMPDIR="+t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// stuck is how long a page may take for anything at all: a test that waits for what never
// comes ends, and no test measures by it.
const stuck = 60 * time.Second

// A page is a tab, and what a test does in it.
type page struct {
	*testing.T
	ctx context.Context

	mu      sync.Mutex
	asked   map[string]bool // hosts that it sent requests to
	trouble []string        // what it complained about
}

// open opens a link in a tab of a browser that knows no other, as another user's would be.
func open(t *testing.T, browser context.Context, link string) *page {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	return (&page{T: t, ctx: ctx}).start(link)
}

func (p *page) start(link string) *page {
	p.Helper()
	p.asked = map[string]bool{}
	if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(1400, 900)); err != nil { // it makes the tab
		p.Fatal(err)
	}
	if err := chromedp.Listen(p.ctx, p.heard); err != nil {
		p.Fatal(err)
	}
	p.do(chromedp.Navigate(link))
	return p
}

// heard keeps what the browser tells of the page.
func (p *page) heard(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.asked[hostOf(e.Request.URL)] = true
	case *runtime.EventExceptionThrown:
		p.trouble = append(p.trouble, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.trouble = append(p.trouble, "console."+string(e.Type))
	case *log.EventEntryAdded:
		p.trouble = append(p.trouble, e.Entry.Text+" "+e.Entry.URL)
	}
}

// complaints are what the browser said of the page, but for what a test expects.
func (p *page) complaints(expected ...string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.trouble), func(text string) bool {
		return slices.ContainsFunc(expected, func(e string) bool { return strings.Contains(text, e) })
	})
}

func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stuck)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// keys presses keys one after the other, each as a keyboard does: what it types comes with
// the press, so that a page which takes the press leaves no text.
func (p *page) keys(text string) {
	p.Helper()
	for _, r := range text {
		press := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Text: string(r), Key: string(r)}
		switch r {
		case '\t':
			press.Text, press.Key, press.WindowsVirtualKeyCode = "", "Tab", 9
		case '\r':
			press.Key, press.WindowsVirtualKeyCode = "Enter", 13
		case '\x1b':
			press.Text, press.Key, press.WindowsVirtualKeyCode = "", "Escape", 27
		case end:
			press.Text, press.Key, press.WindowsVirtualKeyCode = "", "End", 35
		}
		release := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: press.Key, WindowsVirtualKeyCode: press.WindowsVirtualKeyCode}
		for _, event := range []input.DispatchKeyEventParams{press, release} {
			if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, event); err != nil {
				p.Fatal(err)
			}
		}
	}
}

// end is the key of that name.
const end = '\u21F2'

func (p *page) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// until waits for an expression to be true.
func (p *page) until(expression string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stuck)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(0))); err != nil {
		p.Fatalf("%s: %v; the page says:\n%s\n%q", expression, err, p.text("body"), p.complaints())
	}
}

// sees waits for a text in an element.
func (p *page) sees(selector, text string) {
	p.Helper()
	p.until(quoted("(document.querySelector(%s)?.innerText ?? '').includes(%s)", selector, text))
}

// rests waits until the difference that the page goes on to is there: a server that ends
// before has the browser complain.
func (p *page) rests() {
	p.Helper()
	p.until("!document.querySelector('#parts[aria-busy]')")
}

func (p *page) text(selector string) string {
	p.Helper()
	return value[string](p, quoted("document.querySelector(%s)?.innerText ?? ''", selector))
}

func value[T any](p *page, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stuck)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// size makes the window so large, and the system light or dark.
func (p *page) size(width, height int64, scheme string) {
	p.Helper()
	p.do(chromedp.EmulateViewport(width, height), func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return none, err
	})
}
