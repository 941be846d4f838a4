package regress

// Commands besides those that package report knows.
const (
	casesCommand = "cases"
	diffCommand  = "diff"
	runCommand   = "run"

	reduceCommand = "reduce"
	bisectCommand = "bisect"
)
