package regress

import "muster/regress/internal/crew"

// resolve finds the executables, and a command for every case. It comes after connect, which
// says whether they are to be here.
func (s *session) resolve() error {
	c := &s.o.Command
	byGlob := make([]crew.CommandLine, len(c.ByGlob))
	for i, g := range c.ByGlob {
		byGlob[i] = crew.CommandLine(g)
	}
	return s.exec.Resolve(c.Words, byGlob, s.in.Names())
}
