package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"muster/regress/internal/review"
)

// What a screen reader finds: each control by a name of its own, the list with its places.
func names(t *testing.T, browser context.Context) {
	v, p := opened(t, browser, few())
	found := p.read()
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

// read returns what a screen reader finds, by role: names, and what describes them.
func (p *page) read() map[string][]string {
	p.Helper()
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		p.Fatal(err)
	}
	found := map[string][]string{}
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role, name := text(node.Role), text(node.Name)
		found[role] = append(found[role], strings.TrimSpace(name+" "+text(node.Description)))
		switch role {
		case "button", "listbox", "option", "searchbox", "checkbox", "group", "main", "region", "table", "radio", "dialog":
			if name == "" {
				p.Errorf("a %s has no name", role)
			}
		}
	}
	return found
}

// What is decided, where that leads and what a confirmation asks is read out.
func announced(t *testing.T, browser context.Context) {
	v, p := opened(t, browser, few())
	p.keys("a")
	p.sees("#status", "G1 accepted. 4 undecided. Now G2 0x$1 → $1, 10 cases, undecided.")
	p.click("#parts") // away from the list, which tells by itself
	p.keys("j")
	p.sees("#status", "G3")
	p.keys("n")
	p.sees("#status", "Case 2 of 6.")
	find := func(role, want string) {
		t.Helper()
		if found := p.read()[role]; !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("no %s reads %q: %q", role, want, found)
		}
	}
	find("option", "accepted, not written")
	p.until("document.querySelector('#list').getAttribute('aria-activedescendant') === 'item-2'")
	p.until("document.querySelector('#item-2').getAttribute('aria-selected') === 'true'")
	p.until("document.querySelector('#status').role === 'status' && document.querySelector('#notices').role === 'alert'") // both are live
	p.keys("w")
	p.sees("#ask[open]", "40 cases go")
	find("dialog", "Write this? 40 cases go into the golden muster.golden")
	find("button", "Go back")
	p.clean(v.link)
}

// Light and dark, wide and narrow: nothing is wider than the window, and all text stands
// out from what is behind it as WCAG wants it.
func looks(t *testing.T, browser context.Context) {
	store := few()
	store.notes = []string{"there is a newer check"}
	v, p := opened(t, browser, store)
	p.sees("#notices", "there is a newer check")
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
		for _, form := range []string{"Unified", "Side by side"} {
			p.until("document.querySelector('#parts').ariaBusy !== 'true'")
			if faint := value[[]string](p, contrast); len(faint) > 0 {
				t.Errorf("%s, %s: too faint: %q", scheme, form, faint)
			}
			p.keys("v")
		}
		for _, key := range []string{"w", "?"} {
			p.keys(key)
			p.until("document.querySelector('dialog[open]') !== null")
			if faint := value[[]string](p, contrast); len(faint) > 0 {
				t.Errorf("%s, the dialog of %s: too faint: %q", scheme, key, faint)
			}
			p.keys("\x1b")
			p.until("document.querySelector('dialog[open]') === null")
		}
	}
	p.clean(v.link)
}

// Pictures are drawn in three forms, an archive has a part for each entry, and other contents are in hex. The
// page's policy stays as strict as it was.
func previews(t *testing.T, browser context.Context) {
	s := few()
	parts := s.parts[s.cases[0].Name]
	var sides [2][]byte
	for i, c := range []color.Color{color.White, color.Black} {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, 2000, 100), color.Palette{c})); err != nil {
			t.Fatal(err)
		}
		sides[i] = b.Bytes()
	}
	archive := func(content string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("src/a<b>.go")
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	s.parts[s.cases[0].Name] = append(parts,
		review.Part{Name: "a.png", Words: "larger", Old: sides[0], Now: sides[1]},
		review.Part{Name: "new.png", Words: "absent → file", Now: sides[1]},
		review.Part{Name: "a.zip", Words: "larger", Old: archive("package a\n"), Now: archive("package b\n")},
		review.Part{Name: "a.o", Words: "equally large", Old: []byte("\x00old"), Now: []byte("\x00new")})
	v, p := opened(t, browser, s)
	p.sees("#parts", "200,000 of 200,000 pixels differ.")
	p.sees("#parts", "new, PNG, 2,000 × 100 pixels")
	p.until("document.querySelectorAll('#parts canvas[data-drawn]').length === 3")
	p.until("document.querySelector('#parts canvas').width === 1600")
	now := "getComputedStyle(document.querySelector('.pictures figure + figure'))"
	p.until(now + ".mixBlendMode === 'normal'")
	p.click("#parts [value=blend]")
	p.until(now + ".mixBlendMode === 'difference'")
	p.click("#parts [value=flicker]")
	p.until(now + ".animationName === 'flicker'")
	p.sees("#parts", "a.zip › src/a<b>.go changed: 10 bytes → 10 bytes")
	for _, form := range []string{"unified", "sides"} { // hex is alike in all
		p.click("[data-mode=" + form + "]")
		p.rests()
		p.until("[...document.querySelectorAll('table[aria-label=\"a.o\"] tr.come')].some((tr) => tr.innerText.includes('00 6e 65 77') && getComputedStyle(tr).backgroundColor !== getComputedStyle(document.body).backgroundColor)")
	}
	p.size(390, 844, "dark")
	p.until("document.documentElement.scrollWidth === 390")
	if faint := value[[]string](p, contrast); len(faint) > 0 {
		t.Errorf("too faint: %q", faint)
	}
	p.read() // each control has a name
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
