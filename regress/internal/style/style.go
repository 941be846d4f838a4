// Package style is how the pages of regress look: the report of a run and the page on
// which differences are reviewed. It is light or dark as the reader's system is, and fit
// for paper.
//
// It must not know what is on a page: what one page alone has is styled there.
package style

import _ "embed"

//go:embed page.css
var page string

// CSS is the style sheet that the pages have in common, for a style element of their own:
// nothing in it is fetched from elsewhere.
func CSS() string { return page }
