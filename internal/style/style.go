// Package style is the common style sheet of all pages: the report of a run, the review page, and those of
// package page. It follows the reader's light or dark setting, and is fit for paper.
//
// It must not know the content of a page: a page has its own styles for that.
package style

import _ "embed"

//go:embed page.css
var page string

//go:embed pictures.css
var pictures string

// CSS returns the style sheet that the pages share, for their style elements. It fetches nothing
// from elsewhere.
func CSS() string { return page }

// Pictures returns the styles of two pictures that a reader compares, for a page that shows some. They need no script.
func Pictures() string { return pictures }
