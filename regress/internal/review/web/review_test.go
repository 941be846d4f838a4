package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/regress/internal/review"
)

// TestBrowser has one browser for all its tests, each in a profile of its own.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	browser := chromium(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"keys": byKeys, "filter": filtering, "families": families, "forms": forms, "take over": takeOver, "refused": refused, "cut": cutAndReload,
		"3000": threeThousand, "names": names, "previews": previews, "announced": announced, "looks": looks,
	} {
		t.Run(name, func(t *testing.T) { test(t, browser) })
	}
}

// opened serves a review and opens it in a browser.
func opened(t *testing.T, browser context.Context, s *store) (*served, *page) {
	t.Helper()
	v := serve(t, s)
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
	return v, p
}

// clean is what a page must be at the end of a test.
func (p *page) clean(link string, expected ...string) {
	p.Helper()
	if found := p.complaints(expected...); len(found) > 0 {
		p.Errorf("the browser complained: %q", found)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for host := range p.asked {
		if host != hostOf(link) {
			p.Errorf("the page asked %s", host)
		}
	}
}

// From the first key to what is written.
func byKeys(t *testing.T, browser context.Context) {
	s := few()
	v, p := opened(t, browser, s)
	if at := value[string](p, "location.href"); strings.Contains(at, "#") {
		t.Errorf("the token stayed in the address %s", at)
	}
	p.keys("a")
	p.sees("#status", "G1 accepted. 4 undecided.")
	p.sees("#cause", "G2")
	p.keys("ru")
	p.sees("#status", "Undone.")
	p.sees("#cause", "G2")
	p.keys("s")
	p.sees("#status", "G2 skipped.")
	p.keys("R")
	p.sees("#status", "3 causes rejected. None undecided.")
	p.keys("u")
	p.sees("#rest", "3 undecided")
	p.click("#item-3")
	p.sees("#cause", "G4")
	p.keys("n")
	p.sees("#all", "2 of 6")
	p.click("#all")
	p.click("#ask .cases li:nth-child(5) button")
	p.sees("#all", "5 of 6")
	p.keys("w")
	p.sees("#ask[open]", "40 cases go into the golden muster.golden")
	p.sees("#ask[open]", "10 cases wait")
	p.sees("#ask[open]", "10 cases for G2")
	p.sees("#ask[open]", "10 other cases stay out of it")
	p.sees("#ask[open]", "accept G1")
	p.keys("\x1b")
	p.sees("#status", "Nothing was written.")
	p.keys("q")
	p.sees("#ask[open]", "Finish and write nothing")
	p.keys("\r") // going back has the focus
	p.sees("#status", "Nothing was written.")
	if s.writes != 0 {
		t.Fatal("written although nobody confirmed it")
	}
	p.click("#write")
	p.sees("#ask[open]", "accept G1")
	p.keys("y")
	p.sees("#ask[open]", "1 decision kept, 40 cases put into the golden.")
	if got := s.decided(); len(got) != 1 || got["G1"] != review.Accepted || s.promotedCount() != 40 {
		t.Errorf("written: %v, %d cases", got, s.promotedCount())
	}
	p.rests()
	p.keys("\rq")
	p.sees("#notices", "You have finished, and muster has ended.")
	<-v.done
	if v.err != nil || len(v.results) != 1 || v.results[0].Accepted != 40 {
		t.Errorf("%+v, %v", v.results, v.err)
	}
	p.clean(v.link)
}

// A second browser sees who decides. It takes over with all decisions, and the first one reads on.
func takeOver(t *testing.T, browser context.Context) {
	s := few()
	v, first := opened(t, browser, s)
	first.keys("a")
	first.sees("#status", "G1 accepted.")
	first.click("#link")
	first.sees("#ask[open]", "It works once")
	second := open(t, browser, first.text("#ask[open] .link"))
	first.click("#ask-no")
	second.sees("#notices", "Chrome on Linux has held this review since")
	second.sees("#notices", "its last decision was at")
	second.sees("#item-0", "accepted, not written")
	second.keys("r")
	second.sees("#status", "This page only reads: take over to decide.")
	first.keys("a")
	second.sees("#item-1", "accepted, not written") // it follows
	second.click("#notices button")
	second.sees("#status", "This page decides now.")
	second.keys("r")
	second.sees("#item-0", "accepted, not written")
	second.sees("#counts", "1 rejected")
	first.sees("#notices", "Chrome on Linux has held this review since")
	first.sees("#counts", "1 rejected")
	second.keys("w")
	second.sees("#ask[open]", "40 cases go into the golden")
	second.click("#ask-yes")
	second.sees("#ask[open]", "2 decisions kept")
	first.sees("#item-1", "rejected")
	second.click("#ask-yes")
	second.sees("#notices", "You have finished, and muster has ended.")
	<-v.done
	first.sees("#notices", "muster does not answer.")
	second.clean(v.link)
}

func filtering(t *testing.T, browser context.Context) {
	v, p := opened(t, browser, few())
	p.keys("/bracket")
	p.sees("#status", "1 cause of 5 shown.")
	p.sees("#cause", "G3")
	p.keys("\rA")
	p.sees("#status", "1 cause accepted. None undecided.")
	p.keys("/")
	p.keys("\x1b")
	p.until("document.querySelectorAll('#list [role=option]').length === 5")
	p.sees("#rest", "4 undecided")
	p.keys("/nowhere")
	p.sees("#parts", "No cause passes the filter.")
	p.clean(v.link)
}

// Forms of the same difference: what went and what came are elements of their own.
func forms(t *testing.T, browser context.Context) {
	v := serve(t, few())
	p := open(t, browser, v.link)
	p.sees("#parts .note", "on the engine: ran on w1")
	p.until("document.querySelector('.unified tr.gone del')?.innerText === '12ll'")
	p.until("document.querySelector('.unified tr.come ins')?.innerText === '12LL'")
	p.until("document.querySelector('.unified tr.same .text')?.innerText.includes('<c> & \"quoted\"')")
	p.keys("v")
	p.until("document.querySelector('.sides tr.changed .gone del')?.innerText === '12ll'")
	p.click("[data-mode=unified]")
	p.until("document.querySelector('.unified') !== null")
	p.click("#item-1")
	p.sees("#parts", "edit of other causes")
	p.keys("o")
	p.until("document.querySelector('.lines ins.other')?.innerText === '12LL'")
	p.clean(v.link)
}

// A run that has grown old meanwhile: the plan says so, decisions are kept, and no case is.
func refused(t *testing.T, browser context.Context) {
	s := few()
	v, p := opened(t, browser, s)
	p.keys("a")
	p.sees("#status", "G1 accepted.")
	s.mu.Lock()
	s.notes, s.refuse = []string{"there is a newer check"}, "the golden has changed"
	s.mu.Unlock()
	p.keys("w")
	p.sees("#ask[open]", "40 cases go")
	p.sees("#notices", "there is a newer check")
	p.click("#ask-yes")
	p.sees("#ask[open]", "No case went into the golden. the golden has changed Your decisions are kept.")
	if got := s.decided(); got["G1"] != review.Accepted || s.promotedCount() != 0 {
		t.Errorf("%v, %d cases", got, s.promotedCount())
	}
	p.clean(v.link)
}

// A family is one row, and one decision, until it is opened.
func families(t *testing.T, browser context.Context) {
	s := few()
	s.items[1].Family, s.items[3].Family = "forms", "forms"
	v, p := opened(t, browser, s)
	p.keys("jf")
	p.sees("#status", "Family forms opened.")
	p.keys("jf")
	p.sees("#status", "Family forms folded.")
	p.sees("#facts", "and 1 cause of family forms")
	p.keys("a")
	p.sees("#status", "2 causes accepted. 3 undecided. Now G3")
	p.keys("w")
	p.click("#ask-yes")
	p.sees("#ask[open]", "2 decisions kept, 0 cases put into the golden.")
	p.clean(v.link)
}

// 3,000 causes: the page holds as much as is in sight, and keeps going when keys are held.
func threeThousand(t *testing.T, browser context.Context) {
	s := many()
	v, p := opened(t, browser, s)
	bounded := func() {
		t.Helper()
		if n := value[int](p, "document.querySelectorAll('*').length"); n > 1500 {
			t.Errorf("%d elements", n)
		}
	}
	p.sees("#list", "▸2,998")
	p.keys("F")
	p.sees("#status", "3,000 causes listed.")
	bounded()
	p.keys(strings.Repeat("j", 40))
	p.sees("#cause", "G41")
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#list').scrollTop = 50000"))
	p.until("document.querySelector('#item-870') !== null")
	bounded()
	p.keys("G")
	p.sees("#cause", "G3000")
	p.sees("#parts", "renamed_2999")
	p.keys("A")
	p.sees("#status", "3,000 causes accepted.")
	p.keys("w")
	p.sees("#ask[open]", "3,000 cases go into the golden")
	p.click("#ask-yes")
	p.sees("#ask[open]", "3,000 decisions kept, 3,000 cases put into the golden.")
	bounded()
	p.clean(v.link)
}

// A network goes and comes back, and a page is loaded again: nothing that was decided is lost, and the page still decides.
func cutAndReload(t *testing.T, browser context.Context) {
	v, p := opened(t, browser, few())
	p.keys("a")
	p.sees("#status", "G1 accepted.")
	value[bool](p, "window.real = window.fetch, window.fetch = () => Promise.reject(new TypeError()), true")
	p.sees("#notices", "muster does not answer. It may have ended; this page tries again. 1 decision is not written: G1.")
	p.keys("a")
	p.sees("#status", "muster does not answer")
	value[bool](p, "window.fetch = window.real, true")
	p.until("!document.querySelector('[data-id=lost]')")
	p.keys("a")
	p.sees("#status", "G2 accepted.")
	p.do(chromedp.Reload())
	p.sees("#parts", "( total )")
	p.sees("#item-1", "accepted, not written")
	p.keys("u")
	p.sees("#status", "Undone.")
	p.clean(v.link)
}
