package review

import (
	"regexp"
	"strings"
)

// matcher returns the predicate of a filter. The filter matches as literal text, and also as a
// regular expression if it is one: "a+b" finds a+b too.
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
