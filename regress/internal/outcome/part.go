package outcome

// EndingPart names the ending in lists of parts.
const EndingPart = "ending"

// PartName names a part in reports: "stdout", "stderr" or the raw path. A file
// that has one of the reserved names gets "./" before it, which no path has.
func PartName(k Key) string {
	if k.Place == File && (k.Path == "stdout" || k.Path == "stderr" || k.Path == EndingPart) {
		return "./" + k.Path
	}
	return k.String()
}
