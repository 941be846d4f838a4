package style_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster/internal/style"
)

// pages are the style sheets that stand behind the common one.
var pages = []string{"../page/page.css", "../../regress/internal/report/html_page.css", "../../regress/internal/review/web/page/page.css"}

func sheets(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"page.css": style.CSS(), "pictures.css": style.Pictures()}
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	return all
}

// blocks are what stands in the braces behind each :root of a sheet.
func blocks(sheet string) (list []map[string]string) {
	setting := regexp.MustCompile(`(--[a-z-]+):\s*([^;]+);`)
	for _, root := range regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(sheet, -1) {
		block := map[string]string{}
		for _, m := range setting.FindAllStringSubmatch(root[1], -1) {
			block[m[1]] = m[2]
		}
		list = append(list, block)
	}
	return list
}

// A property that is not defined is none, and no browser says so: text without its colour.
func TestWhatIsUsedIsDefined(t *testing.T) {
	all := sheets(t)
	defined := blocks(all["page.css"])[0]
	for path, sheet := range all {
		own := map[string]bool{}
		for _, m := range regexp.MustCompile(`(--[a-z-]+):`).FindAllStringSubmatch(sheet, -1) {
			own[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`var\((--[a-z-]+)(,?)`).FindAllStringSubmatch(sheet, -1) {
			if defined[m[1]] == "" && !own[m[1]] && m[2] == "" {
				t.Errorf("%s uses %s, which is defined nowhere", path, m[1])
			}
		}
	}
}

// A page is one file, or served under a policy that fetches nothing from elsewhere; a
// brace too few takes the rules behind it along.
func TestSheetsAreWhole(t *testing.T) {
	for path, sheet := range sheets(t) {
		if open, closed := strings.Count(sheet, "{"), strings.Count(sheet, "}"); open != closed || open == 0 {
			t.Errorf("%s: %d braces open, %d close", path, open, closed)
		}
		for _, word := range []string{"url(", "@import", "</", "http:", "https:"} {
			if strings.Contains(sheet, word) {
				t.Errorf("%s has %q", path, word)
			}
		}
	}
}

// Words can be read on what they stand on, in light and in the dark: 4.5 to 1 is what
// WCAG 2 asks for.
func TestContrast(t *testing.T) {
	roots := blocks(style.CSS())
	if len(roots) != 2 {
		t.Fatalf("%d blocks of colours, not one for the light and one for the dark", len(roots))
	}
	for name, colour := range roots[0] {
		if strings.HasPrefix(colour, "#") && roots[1][name] == "" {
			t.Errorf("%s has no colour in the dark", name)
		}
	}
	for words, grounds := range map[string][]string{
		"ink":  {"paper", "band", "deep", "open-band", "note-band", "put-in", "taken-out"},
		"soft": {"paper", "band", "deep"}, "link": {"paper", "band"},
		"good": {"good-band", "paper"}, "bad": {"bad-band", "paper"}, "open": {"open-band"}, "odd": {"odd-band"}, "note": {"note-band"},
		"put-in-ink": {"put-in", "put-in-word"}, "taken-out-ink": {"taken-out", "taken-out-word"},
	} {
		for _, ground := range grounds {
			for i, root := range roots {
				if c := contrast(t, root["--"+words], root["--"+ground]); c < 4.5 {
					t.Errorf("%s on %s, block %d: %.2f to 1", words, ground, i+1, c)
				}
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is that of a colour as #rrggbb, as WCAG 2 defines it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != len("#rrggbb") {
		t.Fatalf("%q is no colour as #rrggbb", colour)
	}
	linear := func(byte uint64) float64 {
		v := float64(byte&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}
