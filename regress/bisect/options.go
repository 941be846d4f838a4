package bisect

// Version is a command of the history that is searched.
type Version struct {
	Name  string
	Words []string
	Where string // the place of the version in its list, for errors
}

// Options says what to search for, and where.
type Options struct {
	Target   string // the ID of a cause, or the name of a case; "" = all causes
	Run      string // ID of the run, or its beginning; "" = the last
	Versions []Version
	Status   func(string) // called with a text of the progress, and with "" before results are printed; may be nil
}
