package reapi

// workFolder is the folder below an action's root in which the command runs. What lies beside
// it is not part of what a case finds or leaves.
const workFolder = "work"

// wholePath is the output path that requests the whole work folder.
type wholePath uint8

// The paths. The API specifies the empty path. Buildbox knows it only if the work folder is the
// root of the input, and knows the other path always.
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
