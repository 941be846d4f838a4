package readable

// Cases counts cases: "1 case" or "2,000 cases".
func Cases(cases int) string { return Count(cases, "case") }

// CasesDo counts cases as the subject of a verb: "1 case waits" or "2,000 cases wait".
func CasesDo(cases int, verb string) string {
	if cases == 1 {
		verb += "s"
	}
	return Cases(cases) + " " + verb
}
