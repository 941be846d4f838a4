package propose

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/readable"
)

// Text returns the proposal as a commented muster.toml. Every line that begins with "# " and a key is a
// setting that can be used by removing these two characters.
func (p Proposal) Text() string {
	var b strings.Builder
	b.WriteString(`# Settings of muster for this folder. A flag overrides its setting here. muster check --help and
# docs/regress.md describe them. Remove "# " before a setting to use it.

`)
	p.writeCorpus(&b)
	b.WriteString(`
# The command runs once for each case. {in} is the source, {out} is {in}.out, {stem} the source
# without its extension. Set it, then run muster record, and later muster check.
# command = ["./tool", "{in}"]

# Limits of one case: its time, and the memory of all its processes together.
# timeout = "1m"
# memory = "2G"

# Cases that run at once; without it, one for each CPU.
# jobs = 4

# Rewrite before comparing what may differ, such as a duration; leave out parts that always differ.
# normalize = ["stdout:s/took [0-9]+ ms/took N ms/"]
# ignore = ["*.log"]

# The baseline: a file, or an address of muster serve.
# golden = "muster.golden"

# Keys below a table belong to it, so tables come last. Cases with other commands: the first glob
# that matches counts.
# [[commands]]
# glob = "*.s"
# command = ["as", "{in}", "-o", "{out}"]

# Settings for one purpose: muster check --profile ci
# [profile.ci]
# fail-fast = 20
# strict = true
`)
	return b.String()
}

func (p Proposal) writeCorpus(b *strings.Builder) {
	if len(p.Corpora) == 0 {
		b.WriteString(`# The corpus: an archive (.tar, .tar.gz, .tar.zst, .tar.xz), or a folder. Each file is a case,
# except headers.
# corpus = "sources"
# cases = ["*.c"]
# headers = ["*.h"]
`)
		return
	}
	first := p.Corpora[0]
	fmt.Fprintf(b, "# The corpus: %s. Each file in it is a case, except headers.\n", first)
	for _, other := range p.Corpora[1:min(len(p.Corpora), 1+othersMax)] {
		fmt.Fprintf(b, "# It could also be %s: %s.\n", strconv.Quote(other.Path), other)
	}
	fmt.Fprintf(b, "corpus = %s\n", strconv.Quote(first.Path))
	b.WriteString("\n# To limit the cases, name globs.\n")
	if first.Mixed {
		fmt.Fprintf(b, "cases = [%s]\n", strconv.Quote("*"+first.Extension))
	} else {
		b.WriteString("# cases = [\"*.c\"]\n")
	}
	b.WriteString("\n# Headers are given to every case, and are no cases. Without this setting they are HDR_*.\n")
	if len(p.Headers) > 0 {
		quoted := make([]string, len(p.Headers))
		for i, glob := range p.Headers {
			quoted[i] = strconv.Quote(glob)
		}
		fmt.Fprintf(b, "headers = [%s]\n", strings.Join(quoted, ", "))
	} else {
		b.WriteString("# headers = [\"*.h\"]\n")
	}
}

// String describes a corpus in a few words.
func (c Corpus) String() string {
	if c.Extension == "" {
		return "an archive"
	}
	files := readable.Count(c.Cases, "*"+c.Extension+" file")
	if c.More {
		files = "at least " + files
	}
	return "a folder with " + files
}
