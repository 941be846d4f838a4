package fair

// Empty reports whether the budget knows no client.
func (b *Budget) Empty() bool { return len(b.tokens.members) == 0 }
