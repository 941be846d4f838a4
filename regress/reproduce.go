package regress

import (
	"slices"
	"strconv"

	"al.essio.dev/pkg/shellescape"
)

func shellQuote(s string) string { return shellescape.Quote(s) }

func shellQuoteAll(args []string) string { return shellescape.QuoteCommand(args) }

// reproduce returns the shell line that runs one case of a past run in a folder
// that stays. It names every option in which that run differs from what the
// line would take from the golden, or by default; what is configured is kept
// from it.
func (o *Options) reproduce(raw, keep string, words []string, configured bool) string {
	without := o.taken(words)
	args := []string{"muster", "run", typedName(raw), o.Corpus.Path, "--keep", keep}
	if configured {
		args = append(args, "--config", "")
	}
	add := func(flag string, is, would string) {
		if is != would {
			args = append(args, "--"+flag, is)
		}
	}
	each := func(flag string, is, would []string) {
		if slices.Equal(is, would) {
			return
		}
		for _, value := range is {
			args = append(args, "--"+flag, value)
		}
	}
	add("golden", without.Store.Golden, GoldenDefault)
	each("headers", o.Corpus.Headers, without.Corpus.Headers)
	each("context", o.Corpus.Context, without.Corpus.Context)
	each("env", o.Command.Env, without.Command.Env)
	each("pass-env", o.Command.PassEnv, without.Command.PassEnv)
	if o.Command.Shell {
		args = append(args, "--shell")
	}
	if o.Command.Stdin {
		args = append(args, "--stdin")
	}
	add("timeout", o.Limits.Timeout.String(), without.Limits.Timeout.String())
	add("grace", o.Limits.Grace.String(), GraceDefault.String())
	add("memory", size(o.Limits.Memory), size(without.Limits.Memory))
	add("output-max", size(o.Limits.OutputMax), size(without.Limits.OutputMax))
	return shellQuoteAll(append(append(args, "--"), words...))
}

// size is a number of bytes as the command line takes it.
func size(n int64) string { return strconv.FormatInt(max(0, n), 10) }

// taken returns the options that `muster run` would have if it were told no
// more than the command: those of the golden. Where that has a list which these
// options have not, it must be kept from it.
func (o *Options) taken(words []string) Options {
	t := Options{Command: Command{Words: words}, Store: o.Store}
	err := t.completeFromGolden()
	for _, lists := range [][2][]string{
		{t.Corpus.Headers, o.Corpus.Headers}, {t.Corpus.Context, o.Corpus.Context},
		{t.Command.Env, o.Command.Env}, {t.Command.PassEnv, o.Command.PassEnv},
	} {
		if err != nil || len(lists[0]) > 0 && len(lists[1]) == 0 {
			t = Options{} // --golden '' is none
			break
		}
	}
	t.Limits.complete()
	return t
}
