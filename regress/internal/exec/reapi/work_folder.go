package reapi

// workFolder is the folder below an action's root in which the command runs: what lies
// beside it is no part of what a case finds, nor of what it leaves.
const workFolder = "work"

// wholePath is the output path by which an engine is asked for the whole work folder.
type wholePath uint8

// The paths. The API's text has the empty path; buildbox knows that one only where the work
// folder is the root of the input, and the other everywhere.
const (
	noWholePath wholePath = iota
	emptyPath
	dotPath
)

func (w wholePath) outputPaths() []string {
	switch w {
	case emptyPath:
		return []string{""}
	case dotPath:
		return []string{"."}
	}
	return nil
}
