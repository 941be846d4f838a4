package review

import (
	"regexp"
	"strings"
)

// matcher returns what a filter lets pass. A text that is no regular expression is
// looked for as it stands, and so is one that is: "a+b" finds a+b too.
func matcher(text string) func(string) bool {
	if text == "" {
		return func(string) bool { return true }
	}
	lower := strings.ToLower(text)
	if regexp.QuoteMeta(text) == text {
		return func(s string) bool { return strings.Contains(strings.ToLower(s), lower) }
	}
	pattern, err := regexp.Compile("(?i)" + text)
	return func(s string) bool {
		return strings.Contains(strings.ToLower(s), lower) || err == nil && pattern.MatchString(s)
	}
}
