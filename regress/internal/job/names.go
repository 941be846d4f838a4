package job

// Commands besides those that package report knows.
const (
	CasesCommand = "cases"
	DiffCommand  = "diff"
	RunCommand   = "run"

	ReduceCommand = "reduce"
	BisectCommand = "bisect"
)
