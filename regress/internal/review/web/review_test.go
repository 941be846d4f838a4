package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/regress/internal/review"
	"muster/regress/internal/review/web"
)

// TestBrowser has one browser for all its tests, each in a profile of its own.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	browser := chromium(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"keys": byKeys, "mouse": byMouse, "filter": filtering, "folding": folding, "joining": joining, "regrouped": regrouped, "forms": forms, "two reviewers": twoReviewers,
		"two tabs": twoTabs, "grown old": grownOld, "shut": shut, "cut": cutOff, "back": backAndReload, "other items": otherItems, "end": ending, "spent link": spentLink, "3000": threeThousand, "names": names, "telephone": telephone, "previews": previews, "announced": announced, "looks": looks,
	} {
		t.Run(name, func(t *testing.T) { test(t, browser) })
	}
}

// quick looks often what others wrote: tests wait for it.
func quick(o *web.Options) { o.Every = 20 * time.Millisecond }

// opened serves a review and opens it in a browser.
func opened(t *testing.T, browser context.Context, s *store, change ...func(*web.Options)) (*served, *page) {
	t.Helper()
	v := serve(t, s, change...)
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

// From the first key to what is written, without a pointer.
func byKeys(t *testing.T, browser context.Context) {
	s := few()
	v, p := opened(t, browser, s)
	if at := value[string](p, "location.href"); strings.Contains(at, "#") {
		t.Errorf("the token stayed in the address %s", at)
	}
	p.keys("a")
	p.sees("#status", "G1 accepted. 4 undecided.")
	p.sees("#cause", "G2")
	p.keys("r")
	p.sees("#status", "G2 rejected.")
	p.keys("u")
	p.sees("#status", "Undone.")
	p.sees("#cause", "G2")
	p.keys("s")
	p.sees("#status", "G2 skipped.")
	p.keys("R")
	p.sees("#status", "3 causes rejected. None undecided.")
	p.keys("u")
	p.sees("#rest", "3 undecided")
	p.keys("k")
	p.sees("#cause", "G2")
	p.keys("jj")
	p.sees("#cause", "G4")
	p.keys("n")
	p.sees("#all", "2 of 6")
	p.keys("pp")
	p.sees("#all", "6 of 6")
	if got := s.decided(); len(got) > 0 || s.promotedCount() > 0 {
		t.Fatalf("written before it was confirmed: %v, %d cases", got, s.promotedCount())
	}
	p.keys("w")
	p.sees("#ask[open]", "40 cases go into the golden muster.golden")
	p.sees("#ask[open]", "10 cases wait")
	p.sees("#ask[open]", "10 cases for G2")
	p.sees("#ask[open]", "10 other cases stay out of it")
	p.sees("#ask[open]", "accept G1")
	p.keys("\x1b")
	p.sees("#status", "Nothing was written.")
	if s.writes != 0 {
		t.Fatal("written although nobody confirmed it")
	}
	p.keys("q")
	p.sees("#ask[open]", "Finish and write nothing")
	p.keys("\r") // going back has the focus
	p.sees("#status", "Nothing was written.")
	p.keys("w")
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
	if v.err != nil || len(v.outcome.Results) != 1 || v.outcome.Results[0].Accepted != 40 || len(v.outcome.Unsaved) > 0 {
		t.Errorf("%+v, %v", v.outcome, v.err)
	}
	p.clean(v.link)
}

// The same with a pointer; what is not written is asked for at the end.
func byMouse(t *testing.T, browser context.Context) {
	s := few()
	v, p := opened(t, browser, s)
	p.click("#item-2")
	p.sees("#cause", "G3")
	p.click(".accept")
	p.sees("#status", "G3 accepted.")
	p.click("#item-0")
	p.click("#next")
	p.sees("#all", "2 of 50")
	p.click("#all")
	p.sees("#ask[open]", "src/pkg04/file_0004.c")
	p.click("#ask .cases li:nth-child(5) button")
	p.sees("#all", "5 of 50")
	p.sees("#case", "src/pkg04/file_0004.c")
	p.click("#finish")
	p.sees("#ask[open]", "Finish and write nothing")
	p.click("#ask-no")
	p.click("[data-do=accept-rest]")
	p.sees("#status", "4 causes accepted.")
	p.click("#write")
	p.sees("#ask[open]", "60 cases go into the golden")
	p.click("#ask-yes")
	p.sees("#ask[open]", "5 decisions kept, 60 cases put into the golden.")
	p.rests()
	p.click("#ask-yes")
	p.sees("#notices", "You have finished")
	<-v.done
	if s.promotedCount() != 60 || v.err != nil {
		t.Errorf("%d cases, %v", s.promotedCount(), v.err)
	}
	p.clean(v.link)
}

func filtering(t *testing.T, browser context.Context) {
	v, p := opened(t, browser, few())
	p.keys("/")
	p.keys("bracket")
	p.sees("#status", "1 cause of 5 shown.")
	p.sees("#cause", "G3")
	p.keys("\r")
	p.keys("A")
	p.sees("#status", "1 cause accepted. None undecided.")
	p.keys("/")
	p.keys("\x1b")
	p.until("document.querySelectorAll('#list [role=option]').length === 5")
	p.sees("#rest", "4 undecided")
	p.keys("/")
	p.keys("nowhere")
	p.sees("#parts", "No cause passes the filter.")
	p.sees("#cause", "No cause")
	p.clean(v.link)
}

// Three forms of the same difference: what went and what came are elements of their own.
func forms(t *testing.T, browser context.Context) {
	v := serve(t, few())
	p := open(t, browser, v.link)
	p.sees("#parts .unified", "12LL")
	p.sees("#parts .note", "on the engine: ran on w1")
	p.until("document.querySelector('.unified tr.gone del')?.innerText === '12ll'")
	p.until("document.querySelector('.unified tr.come ins')?.innerText === '12LL'")
	p.until("document.querySelector('.unified tr.same .text')?.innerText.includes('<c> & \"quoted\"')")
	p.keys("v")
	p.until("document.querySelector('.sides tr.changed .gone del')?.innerText === '12ll'")
	p.keys("v")
	p.until("document.querySelector('.words tr.changed .text')?.innerText.includes('12ll12LL')")
	p.keys("v")
	p.until("document.querySelector('.unified') !== null")
	p.click("#item-1")
	p.sees("#parts", "edit of other causes")
	p.keys("o")
	p.until("document.querySelector('.lines ins.other')?.innerText === '12LL'")
	p.clean(v.link)
}

// Two browsers: what one writes the other sees, and nobody's decision is lost unseen.
func twoReviewers(t *testing.T, browser context.Context) {
	s := few()
	v, first := opened(t, browser, s, quick)
	first.click("#link")
	first.sees("#ask[open]", "It works once")
	second := open(t, browser, first.text("#ask[open] .link"))
	second.sees("#run", "reviewer 2")
	first.click("#ask-no")
	first.keys("aa")
	first.sees("#rest", "3 undecided")
	second.keys("r")
	second.sees("#status", "G1 rejected.")
	second.sees("#rest", "4 undecided") // what is not written is nobody else's business
	first.keys("w")
	first.sees("#ask[open]", "50 cases go into the golden")
	first.click("#ask-yes")
	first.sees("#ask[open]", "2 decisions kept")
	first.click("#ask-no")
	second.sees("#notices", "Somebody else decided meanwhile: G1 is accepted, and here it is rejected.")
	second.sees("#list", "accepted")
	second.keys("w")
	second.sees("#ask[open]", "reject G1")
	second.sees("#ask[open]", "50 cases stay in the golden.")
	second.sees("#ask[open]", "G1 was accepted by somebody else meanwhile.")
	second.click("#ask-yes")
	second.sees("#ask[open]", "1 decision kept")
	second.click("#ask-yes")
	second.sees("#notices", "Others are still at work")
	if got := s.decided(); got["G1"] != review.Rejected || got["G2"] != review.Accepted {
		t.Errorf("%v", got)
	}
	first.sees("#item-0", "rejected")
	first.rests()
	first.keys("q")
	first.sees("#notices", "You have finished, and muster has ended.")
	<-v.done
	first.clean(v.link)
	second.clean(v.link)
}

// Two tabs of one browser are one reviewer.
func twoTabs(t *testing.T, browser context.Context) {
	v, first := opened(t, browser, few())
	second := first.tab(strings.Split(v.link, "#")[0])
	second.sees("#parts", "12LL")
	first.keys("a")
	second.sees("#item-0", "accepted, not written")
	second.keys("u")
	first.until("document.querySelector('#item-0')?.innerText.includes('accepted') === false")
	second.clean(v.link)
}

// A run that has grown old meanwhile: decisions are kept, and it says why no case is.
func grownOld(t *testing.T, browser context.Context) {
	s := few()
	v, p := opened(t, browser, s, quick)
	p.keys("a")
	p.sees("#status", "G1 accepted.")
	s.mu.Lock()
	s.notes, s.refuse = []string{"a newer check is there, run 20260102-040506-cd34"}, "the golden muster.golden is not the one that was compared with"
	s.mu.Unlock()
	p.sees("#notices", "a newer check is there")
	p.keys("w")
	p.sees("#ask[open]", "40 cases go")
	p.click("#ask-yes")
	p.sees("#ask[open]", "No case went into the golden. the golden muster.golden is not the one that was compared with Your decisions are kept.")
	if got := s.decided(); got["G1"] != review.Accepted || s.promotedCount() != 0 {
		t.Errorf("%v, %d cases", got, s.promotedCount())
	}
	p.clean(v.link)
}

// When muster is stopped the page says so, and what is lost.
func ending(t *testing.T, browser context.Context) {
	v, p := opened(t, browser, few())
	p.keys("ja")
	p.sees("#status", "G2 accepted.")
	p.rests()
	v.stop()
	<-v.done
	p.sees("#notices", "muster has ended.")
	p.sees("#notices", "1 decision was not written: G2.")
	if strings.Join(v.outcome.Unsaved, " ") != "G2" {
		t.Errorf("%+v", v.outcome)
	}
	p.clean(v.link)
}

func spentLink(t *testing.T, browser context.Context) {
	v, _ := opened(t, browser, few())
	again := open(t, browser, v.link)
	again.sees("#notices", "this link was used already")
	none := open(t, browser, strings.Split(v.link, "#")[0])
	none.sees("#notices", "this browser takes no part in the review")
	none.clean(v.link, "401")
}

// A family is one row, and one decision, until it is opened.
func folding(t *testing.T, browser context.Context) {
	s := few()
	s.items[1].Family, s.items[3].Family = "forms", "forms"
	v, p := opened(t, browser, s)
	p.keys("jf")
	p.sees("#status", "Family forms opened.")
	p.keys("j")
	p.sees("#cause", "G4")
	p.keys("f")
	p.sees("#status", "Family forms folded.")
	p.sees("#cause", "G2")
	p.sees("#facts", "and 1 cause of family forms")
	p.sees("#list", "▸1")
	p.keys("a")
	p.sees("#status", "2 causes accepted. 3 undecided. Now G3")
	p.keys("kf")
	p.sees("#facts", "family forms")
	p.sees("#facts", "accepted")
	p.keys("r")
	p.sees("#status", "G2 rejected.")
	p.keys("kkf")
	p.keys("gj")
	p.sees("#facts", "undecided")
	p.keys("/G4")
	p.sees("#status", "1 cause of 5 shown.")
	p.sees("#facts", "accepted")
	p.keys("\x1b")
	p.keys("w")
	p.sees("#ask[open]", "2 decisions are kept with the run")
	p.clean(v.link)
}

// Causes are joined and split by hand. Another reviewer sees it once it is written.
func joining(t *testing.T, browser context.Context) {
	s := few()
	v, p := opened(t, browser, s, quick)
	p.click("#link")
	p.sees("#ask[open]", "It works once")
	other := open(t, browser, p.text("#ask[open] .link"))
	other.sees("#parts", "12LL")
	p.click("#ask-no")
	p.keys("M")
	p.sees("#status", "Mark others first")
	p.keys("jm")
	p.sees("#status", "G2 marked. 1 marked.")
	p.keys("j")
	p.sees("#cause", "G4")
	p.click("#join")
	p.sees("#status", "2 causes joined.")
	p.sees("#list", "▸1")
	p.sees("#facts", "family joined: 0x$1 → $1")
	p.sees("#write", "Write families")
	p.keys("w")
	p.sees("#ask[open]", "2 causes are joined or split, for later checks too:")
	p.sees("#ask[open]", "G4 goes into joined: 0x$1 → $1")
	p.click("#ask-yes")
	p.sees("#ask[open]", "2 causes joined or split, 0 cases put into the golden.")
	p.click("#ask-no")
	other.sees("#list", "▸1")
	other.keys("jx")
	other.sees("#status", "2 causes out of the family.")
	other.keys("u")
	other.sees("#status", "Undone.")
	other.sees("#list", "▸1")
	other.keys("x")
	other.sees("#status", "2 causes out of the family.")
	other.keys("w")
	other.sees("#ask[open]", "G2 leaves its family")
	other.keys("y")
	other.sees("#ask[open]", "2 causes joined or split")
	p.until("!document.querySelector('#list').innerText.includes('▸')")
	p.clean(v.link)
	other.clean(v.link)
}

// What others joined is shown before a key can act on it. A row that stands for other causes than the page
// shows is not decided on.
func regrouped(t *testing.T, browser context.Context) {
	s := few()
	v, p := opened(t, browser, s, func(o *web.Options) { o.Every = time.Hour })
	join := func(family string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.families = map[string]string{"s4": family, "s5": family}
	}
	p.keys("aw")
	p.sees("#ask[open]", "1 decision is kept with the run")
	join("joined: by another")
	p.keys("y")
	p.sees("#ask[open]", "1 decision kept")
	p.click("#ask-no")
	p.sees("#list", "▸1")
	p.keys("G")
	p.sees("#cause", "G4")
	value[bool](p, `window.real = window.fetch, window.fetch = (path, options) => real(path, path === "act" ? { ...options, body: options.body.replace('"G5"', '"G3"') } : options), true`)
	p.keys("a")
	p.sees("#status", "Its family has changed, and nothing was done: look again.")
	value[bool](p, "window.fetch = window.real, true")
	p.keys("a")
	p.sees("#status", "2 causes accepted.")
	p.clean(v.link, "409")
}

// 3,000 causes: the page holds as much as is in sight, and keeps going when keys are held.
func threeThousand(t *testing.T, browser context.Context) {
	s := many()
	v, p := opened(t, browser, s)
	value[bool](p, `window.slow = [], new PerformanceObserver((l) => slow.push(...l.getEntries().map((e) => Math.round(e.duration)))).observe({ type: "longtask" }), true`)
	bounded := func() {
		t.Helper()
		if n := value[int](p, "document.querySelectorAll('*').length"); n > 1500 {
			t.Errorf("%d elements", n)
		}
	}
	bounded()
	p.sees("#list", "▸2,998")
	p.keys("F")
	p.sees("#status", "3,000 causes listed.")
	bounded()
	p.keys(strings.Repeat("j", 40))
	p.sees("#cause", "G41")
	bounded()
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#list').scrollTop = 50000"))
	p.until("document.querySelector('#item-870') !== null")
	bounded()
	p.do(chromedp.Focus(chromedp.CSS("#list")))
	p.keys(string(end))
	p.sees("#cause", "G3000")
	p.sees("#parts", "renamed_2999")
	p.keys("a")
	p.sees("#rest", "2,999 undecided")
	p.keys("/name_17")
	p.sees("#status", "111 causes of 3,000 shown.")
	p.keys("\x1b")
	p.sees("#rest", "2,999 undecided")
	p.keys("A")
	p.sees("#status", "2,999 causes accepted.")
	p.keys("w")
	p.sees("#ask[open]", "3,000 cases go into the golden")
	p.sees("#ask[open]", "3,000 decisions are kept with the run")
	p.click("#ask-yes")
	p.sees("#ask[open]", "3,000 decisions kept, 3,000 cases put into the golden.")
	bounded()
	if s.promotedCount() != 3000 {
		t.Errorf("%d cases", s.promotedCount())
	}
	t.Logf("tasks of more than 50 ms: %v", value[[]int](p, "slow"))
	p.clean(v.link)
}

// With a golden that takes no case any more, no case is announced: decisions alone are
// written, and then there is nothing to write.
func shut(t *testing.T, browser context.Context) {
	s := few()
	s.shut = "it has changed"
	v, p := opened(t, browser, s, quick)
	p.sees("#write", "Nothing to write")
	p.keys("a")
	p.sees("#write", "Write 1 decision…")
	p.keys("w")
	p.sees("#ask[open]", "No case goes into the golden muster.golden: it has changed.")
	p.keys("y")
	p.sees("#ask[open]", "1 decision kept, 0 cases put into the golden.")
	p.keys("\r")
	p.sees("#write", "Nothing to write")
	p.keys("w")
	p.sees("#status", "Nothing to write: no case can go into the golden (it has changed")
	if s.promotedCount() != 0 || s.writes != 1 {
		t.Errorf("%d cases, %d writes", s.promotedCount(), s.writes)
	}
	p.clean(v.link)
}

// A laptop is closed, or a network goes: the page says so, takes up again what was cut, and
// nothing that was decided is lost.
func cutOff(t *testing.T, browser context.Context) {
	s := few()
	v := serve(t, s, quick)
	w := newWire(t, v.link)
	p := open(t, browser, w.link)
	p.sees("#parts", "12LL")
	p.keys("a")
	p.sees("#status", "G1 accepted.")
	w.cut()
	p.sees("#notices", "muster does not answer. The page tries again")
	p.keys("a")
	p.sees("#status", "muster does not answer")
	s.mu.Lock()
	s.decisions["G5"] = review.Rejected // somebody else, meanwhile
	s.mu.Unlock()
	w.mend()
	p.sees("#status", "muster answers again.")
	p.until("document.querySelector('#notices').innerText === ''")
	p.sees("#item-0", "accepted, not written")
	p.sees("#item-4", "rejected")
	p.keys("a")
	p.sees("#status", "G2 accepted.")
	p.clean(w.link, "ERR_", "Failed to load")
}

// Back, forward and reload keep the seat and what was decided.
func backAndReload(t *testing.T, browser context.Context) {
	v, p := opened(t, browser, few())
	p.keys("a")
	p.sees("#status", "G1 accepted.")
	p.do(chromedp.Navigate("about:blank"), chromedp.NavigateBack())
	p.sees("#parts", "0xff")
	p.sees("#item-0", "accepted, not written")
	p.do(chromedp.Reload())
	p.sees("#parts", "0xff")
	p.keys("u")
	p.sees("#status", "Undone.")
	p.clean(v.link)
}

// What is no cause is not called one.
func otherItems(t *testing.T, browser context.Context) {
	s := few()
	s.items[4].ID, s.items[4].Kind, s.items[4].Name = review.NewID, "", "new: the golden does not have them"
	v, p := opened(t, browser, s)
	p.sees("#run", "60 cases in 5 items")
	p.keys("A")
	p.sees("#status", "5 items accepted.")
	p.until("document.querySelector('#list').getAttribute('aria-label') === 'Causes and other items'")
	p.clean(v.link)
}
