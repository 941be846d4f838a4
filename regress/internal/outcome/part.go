package outcome

// EndingPart stands for the ending in lists of parts.
const EndingPart = "ending"

// PartName returns the name of a part in reports: "stdout", "stderr" or the raw path. A file
// with one of the reserved names gets the prefix "./", which no path has.
func PartName(k Key) string {
	if k.Place == File && (k.Path == "stdout" || k.Path == "stderr" || k.Path == EndingPart) {
		return "./" + k.Path
	}
	return k.String()
}
