package regress

import "muster/regress/internal/crew"

// inputsChanged returns an error if the corpus changed since the run began. It warns of a
// corpus that was written to and did not change: it may have had other content meanwhile.
func (s *session) inputsChanged() error {
	if err := s.corpus.Changed(); err != nil {
		return err
	}
	if s.corpus.StampNow() != s.corpus.Stamp() {
		s.events.Warn(s.o.Corpus.Path + writtenMeanwhile)
	}
	return nil
}

// resolve finds the executables, and a command for every case. It comes after connect, which
// says whether they are to be here.
func (s *session) resolve() (err error) {
	c := &s.o.Command
	byGlob := make([]crew.CommandLine, len(c.ByGlob))
	for i, g := range c.ByGlob {
		byGlob[i] = crew.CommandLine(g)
	}
	names := make([]string, len(s.cases))
	for i, e := range s.cases {
		names[i] = e.Name
	}
	s.commands, err = crew.ResolveCommands(s.crew, c.Words, byGlob, names)
	return err
}
