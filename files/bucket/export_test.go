package bucket

import "time"

// SetLinger replaces lingerMax.
func SetLinger(s *Store, d time.Duration) { s.linger = d }
