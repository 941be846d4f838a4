package fair

// Empty reports whether the budget knows nobody.
func (b *Budget) Empty() bool { return len(b.tokens.members) == 0 }
