package web_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
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
		"keys": byKeys, "mouse": byMouse, "filter": filtering, "forms": forms, "two reviewers": twoReviewers,
		"two tabs": twoTabs, "grown old": grownOld, "end": ending, "spent link": spentLink, "3000": threeThousand, "names": names, "looks": looks,
	} {
		t.Run(name, func(t *testing.T) { test(t, browser) })
	}
}

// quick looks often what others wrote: tests wait for it.
func quick(o *web.Options) { o.Every = 20 * time.Millisecond }

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
	v := serve(t, s)
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
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
	v := serve(t, s)
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
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
	p.click("#ask-yes")
	p.sees("#notices", "You have finished")
	<-v.done
	if s.promotedCount() != 60 || v.err != nil {
		t.Errorf("%d cases, %v", s.promotedCount(), v.err)
	}
	p.clean(v.link)
}

func filtering(t *testing.T, browser context.Context) {
	v := serve(t, few())
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
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
	v := serve(t, s, quick)
	first := open(t, browser, v.link)
	first.sees("#parts", "12LL")
	first.click("#link")
	first.sees("#ask[open]", "opens the review once")
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
	second.sees("#ask[open]", "50 cases stay in the golden, although")
	second.sees("#ask[open]", "G1 was accepted by somebody else meanwhile.")
	second.click("#ask-yes")
	second.sees("#ask[open]", "1 decision kept")
	second.click("#ask-yes")
	second.sees("#notices", "Others are still at work")
	if got := s.decided(); got["G1"] != review.Rejected || got["G2"] != review.Accepted {
		t.Errorf("%v", got)
	}
	first.sees("#item-0", "rejected")
	first.keys("q")
	first.sees("#notices", "You have finished, and muster has ended.")
	<-v.done
	first.clean(v.link)
	second.clean(v.link)
}

// Two tabs of one browser are one reviewer.
func twoTabs(t *testing.T, browser context.Context) {
	v := serve(t, few())
	first := open(t, browser, v.link)
	first.sees("#parts", "12LL")
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
	v := serve(t, s, quick)
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
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
	v := serve(t, few())
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
	p.keys("ja")
	p.sees("#status", "G2 accepted.")
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
	v := serve(t, few())
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
	again := open(t, browser, v.link)
	again.sees("#notices", "this link was used already")
	none := open(t, browser, strings.Split(v.link, "#")[0])
	none.sees("#notices", "this browser takes no part in the review")
	none.clean(v.link, "401")
}

// 3,000 causes: the page holds as much as is in sight, and keeps going when keys are held.
func threeThousand(t *testing.T, browser context.Context) {
	s := many()
	v := serve(t, s)
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
	value[bool](p, `window.slow = [], new PerformanceObserver((l) => slow.push(...l.getEntries().map((e) => Math.round(e.duration)))).observe({ type: "longtask" }), true`)
	bounded := func() {
		t.Helper()
		if n := value[int](p, "document.querySelectorAll('*').length"); n > 1500 {
			t.Errorf("%d elements", n)
		}
	}
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

// What a screen reader finds: each control by a name of its own, the list with its places.
func names(t *testing.T, browser context.Context) {
	v := serve(t, few())
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role, name := text(node.Role), text(node.Name)
		found[role] = append(found[role], name)
		switch role {
		case "button", "listbox", "option", "searchbox", "checkbox", "group", "main", "region", "table", "radio":
			if name == "" {
				t.Errorf("a %s has no name", role)
			}
		}
	}
	for role, want := range map[string][]string{
		"button":  {"Accept a", "Reject r", "Skip s", "Undo u", "Accept all that remain", "Previous case", "Next case", "Case 1 of 50: list the cases", "Unified", "Keys ?", "Finish q"},
		"listbox": {"Causes"}, "searchbox": {"Filter causes and cases"}, "region": {"Difference"}, "main": {`G1 "ll" → "LL"`},
		"option": {`G1 "ll" → "LL" 50 cases suffixes 100 lines`, `G5 $1 + 0 → $1 4 cases 8 lines`}, "status": nil, "deletion": nil, "insertion": nil, "banner": nil, "alert": nil,
	} {
		if found[role] == nil {
			t.Errorf("there is no %s", role)
		}
		for _, name := range want {
			if !strings.Contains(strings.Join(found[role], "\n"), name) {
				t.Errorf("no %s is called %q: %q", role, name, found[role])
			}
		}
	}
	p.until("document.querySelector('#item-2').getAttribute('aria-posinset') === '3' && document.querySelector('#item-2').getAttribute('aria-setsize') === '5'")
	p.until("document.querySelector('#list').getAttribute('aria-activedescendant') === 'item-0'")
	p.clean(v.link)
}

// Light and dark, wide and narrow: nothing is wider than the window, and all text stands
// out from what is behind it as WCAG wants it.
func looks(t *testing.T, browser context.Context) {
	v := serve(t, few())
	p := open(t, browser, v.link)
	p.sees("#parts", "12LL")
	p.keys("arskkkk")
	p.sees("#counts", "1 skipped")
	p.sees("#cause", "G1")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1400, 1000, 700, 360} {
			p.size(width, 900, scheme)
			if n := value[int64](p, "document.documentElement.scrollWidth"); n > width {
				t.Errorf("in a window of %d pixels the page has %d", width, n)
			}
		}
		p.size(1400, 900, scheme)
		for _, form := range []string{"Unified", "Side by side", "Words"} {
			p.until("document.querySelector('#parts').ariaBusy !== 'true'")
			if faint := value[[]string](p, contrast); len(faint) > 0 {
				t.Errorf("%s, %s: too faint: %q", scheme, form, faint)
			}
			p.keys("v")
		}
	}
	p.clean(v.link)
}

// contrast lists the texts whose colour is less than 4.5 times as light as what is behind
// them, or the other way round; what is disabled may be fainter.
const contrast = `(() => {
	const parse = (c) => { const [r, g, b, a = 1] = c.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
	const over = (f, b, a) => ({ r: f.r * a + b.r * (1 - a), g: f.g * a + b.g * (1 - a), b: f.b * a + b.b * (1 - a), a: 1 });
	const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
	const light = (c) => 0.2126 * channel(c.r) + 0.7152 * channel(c.g) + 0.0722 * channel(c.b);
	const faint = new Set();
	for (const e of document.querySelectorAll("body *")) {
		const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
		if (!text || !e.checkVisibility() || e.closest(":disabled, dialog:not([open]), .unseen, thead, .skip")) continue;
		const chain = [];
		for (let at = e; at; at = at.parentElement) chain.unshift(getComputedStyle(at));
		let behind = { r: 255, g: 255, b: 255, a: 1 }, opacity = 1;
		for (const style of chain) {
			opacity *= Number(style.opacity);
			const c = parse(style.backgroundColor);
			behind = over(c, behind, c.a * Number(style.opacity));
		}
		const ink = over(parse(chain.at(-1).color), behind, opacity);
		const [a, b] = [light(ink), light(behind)].sort((x, y) => y - x);
		if ((a + 0.05) / (b + 0.05) < 4.5) faint.add(text.slice(0, 30) + " " + Math.round((a + 0.05) / (b + 0.05) * 10) / 10);
	}
	return [...faint];
})()`

func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal([]byte(v.Value), &s) != nil {
		return string(v.Value)
	}
	return s
}
