package cause

// fold puts rare causes together where there are too many of them.
func (f *finder) fold() {}
