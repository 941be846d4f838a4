package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/regress"
)

// configDefault is read if it exists. A file that --config names must exist.
const configDefault = "muster.toml"

// configTemplate is the settings file that init writes. A setting in it can be used by removing "# ".
const configTemplate = `# Settings of muster for this folder. A flag overrides its setting here. muster check --help and
# docs/regress.md describe them. Remove "# " before a setting to use it.

# The corpus: an archive (.tar, .tar.gz, .tar.zst, .tar.xz), or a folder. Each file is a case,
# except headers, which are given to every case.
# corpus = "sources"
# cases = ["*.c"]
# headers = ["*.h"]

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
`

// initialise writes the first configuration file of a folder.
func initialise(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Write a commented muster.toml for this folder",
		Long: `Init writes a muster.toml that explains the most important settings in comments. It never
overwrites a file. Then set the corpus and the command in that file, and run muster record.`,
		Example:               "  muster init && $EDITOR muster.toml && muster record",
		Args:                  noneWanted,
		DisableFlagsInUseLine: true,
		RunE: func(*cobra.Command, []string) error {
			f, err := os.OpenFile(configDefault, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
			if errors.Is(err, os.ErrExist) {
				return usagef("%s exists already: edit it, or move it away and run muster init again", configDefault)
			}
			if err != nil {
				return usagef("%w", err)
			}
			if _, err := f.WriteString(configTemplate); err != nil {
				return errors.Join(err, f.Close(), os.Remove(configDefault)) // half a file would be in the way
			}
			if err := f.Close(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "wrote %s\nnext: set corpus and command in %s, then muster record\n", configDefault, configDefault)
			return err
		},
	}
}

// configSource names the sources of settings beside flags.
type configSource struct{ file, profile string }

func (c *configSource) flags(f *pflag.FlagSet) {
	f.StringVar(&c.file, "config", configDefault, "read settings from `FILE`; '' reads no file and no MUSTER_* variable")
	f.StringVar(&c.profile, "profile", "", "use the settings in [profile.`NAME`]; they override the others of the settings file")
}

// apply sets options from the environment (MUSTER_JOBS for --jobs) and the configuration file.
func (c *configSource) apply(f *pflag.FlagSet, o *regress.Options) error {
	named := f.Changed("config")
	for flag, p := range map[string]*string{"config": &c.file, "profile": &c.profile} {
		if value, ok := os.LookupEnv(variable(flag)); ok && !f.Changed(flag) {
			*p = value
			named = named || flag == "config"
		}
	}
	read := configuration{file: c.file}
	if c.file != "" || !named {
		var err error
		if read, err = c.read(named); err != nil {
			return err
		}
		read.layers = append([]layer{environmentLayer(settings())}, read.layers...)
	}
	o.Configured = read.changesCases()
	return read.use(f, o)
}

// configuration is what a settings file and the environment set.
type configuration struct {
	file    string
	layers  []layer          // the first one that has a key sets it
	engines map[string]layer // the tables [engine.NAME], and "" for [engine]
}

// use copies everything from the first layer that has it.
func (c *configuration) use(f *pflag.FlagSet, o *regress.Options) error {
	if err := setFlags(f, c.layers); err != nil {
		return err
	}
	for _, l := range c.layers {
		if err := l.setJob(o); err != nil {
			return err
		}
	}
	if f.Lookup("engine") == nil {
		return nil
	}
	return c.setEngine(f, &o.Remote)
}

// setEngine describes the engine by its table. The address of --remote overrides the table's.
func (c *configuration) setEngine(f *pflag.FlagSet, r *regress.Remote) error {
	table, known := c.engines[r.Name]
	if !known && r.Name != "" {
		return usagef("--engine %s: the settings file has no [engine.%s]%s", r.Name, r.Name, suggest(r.Name, slices.Sorted(maps.Keys(c.engines))))
	}
	url, isGiven := r.URL, f.Changed("remote")
	r.Given = isGiven || r.Name != ""
	keys := engineKeys(r)
	for _, key := range slices.Sorted(maps.Keys(table.keys)) {
		if err := table.set(keys, key, table.keys[key]); err != nil {
			return err
		}
	}
	if isGiven {
		r.URL = url
	}
	if isGiven && url == "" {
		r.Name = "" // on this machine
	}
	if c.file != configDefault {
		r.Settings = c.file
	}
	return nil
}

// changesCases reports whether the settings change what one case sees or may take.
func (c *configuration) changesCases() bool {
	return c.engines[""].keys["url"] != nil || slices.ContainsFunc(c.layers, layer.changesCases)
}

func variable(flag string) string {
	return "MUSTER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// environmentLayer holds the MUSTER_* variables. It has the keys of a file, and no others:
// MUSTER_ALL must not accept all.
func environmentLayer(known *pflag.FlagSet) layer {
	l := layer{keys: map[string]any{}}
	take := func(key string) {
		if value, ok := os.LookupEnv(variable(key)); ok {
			l.keys[key] = value
		}
	}
	known.VisitAll(func(f *pflag.Flag) { take(f.Name) })
	take(corpusKey)
	take(commandKey)
	return l
}

// setFlags sets every flag that is not on the command line. It skips flags that take values
// only from the command line.
func setFlags(f *pflag.FlagSet, layers []layer) (err error) {
	f.VisitAll(func(flag *pflag.Flag) {
		if _, only := flag.Annotations[onlyGivenMark]; err != nil || flag.Changed || only {
			return
		}
		for _, l := range layers {
			if value, ok := l.keys[flag.Name]; ok {
				err = l.set(f, flag.Name, value)
				return
			}
		}
	})
	return err
}

// layer is the environment or one table of the configuration file.
type layer struct {
	where string // for errors: "muster.toml", "muster.toml [profile.ci]", "" for the environment
	keys  map[string]any
}

// at returns where a key is set.
func (l *layer) at(key string) string {
	if l.where == "" {
		return variable(key)
	}
	return l.where
}

// changesCases reports whether the layer has a key that changes what one case
// sees or may take.
func (l layer) changesCases() bool {
	f := pflag.NewFlagSet("case", pflag.ContinueOnError)
	for _, add := range []flagGroup{corpusFlags, commandFlags, caseLimitFlags, goldenFlag, remoteFlags} {
		add(f, &regress.Options{})
	}
	for key := range l.keys {
		if f.Lookup(key) != nil {
			return true
		}
	}
	return false
}

// Keys that are not flags.
const (
	corpusKey   = "corpus"
	commandKey  = "command"
	commandsKey = "commands"
	profileKey  = "profile"
	engineKey   = "engine"
)

// read returns the settings of the file.
func (c *configSource) read(named bool) (configuration, error) {
	text, err := os.ReadFile(c.file)
	if errors.Is(err, os.ErrNotExist) && !named {
		if c.profile != "" {
			return configuration{}, usagef("--profile %s: there is no %s", c.profile, c.file)
		}
		return configuration{file: c.file}, nil
	}
	if err != nil {
		return configuration{}, usagef("--config: %w", err)
	}
	return parseConfig(c.file, text, c.profile)
}

// parseConfig checks the whole file, with profiles and engines that are not requested. The layers are the table of
// the profile, if one is requested, and the file's own table.
func parseConfig(file string, text []byte, profile string) (c configuration, err error) {
	top := map[string]any{}
	if err := toml.Unmarshal(text, &top); err != nil {
		if at, is := errors.AsType[*toml.DecodeError](err); is {
			row, column := at.Position()
			return c, usagef("%s:%d:%d: %s", file, row, column, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return c, usagef("%s: %w", file, err)
	}
	profiles, err := tables(file, top[profileKey])
	if err != nil {
		return c, err
	}
	engines, err := parseEngines(file, top[engineKey])
	if err != nil {
		return c, err
	}
	delete(top, profileKey)
	delete(top, engineKey)
	own := layer{file, top}
	c = configuration{file, []layer{own}, engines}
	known := keysOf(settings(), corpusKey, commandKey, commandsKey)
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		l := layer{fmt.Sprintf("%s [profile.%s]", file, name), profiles[name]}
		if err := l.check(known); err != nil {
			return c, err
		}
		if name == profile {
			c.layers = []layer{l, own}
		}
	}
	if profile != "" && len(c.layers) == 1 {
		return c, usagef("--profile %s: %s has no [profile.%s]%s", profile, file, profile, suggest(profile, slices.Sorted(maps.Keys(profiles))))
	}
	return c, own.check(known)
}

// parseEngines splits the table of engines. A table in it is a named engine, and its other keys
// describe the default one.
func parseEngines(file string, value any) (map[string]layer, error) {
	table, is := value.(map[string]any)
	if value != nil && !is {
		return nil, usagef("%s: engine is a table, as in [engine] or [engine.NAME]: a profile, MUSTER_ENGINE or --engine chooses one by its name", file)
	}
	engines := map[string]layer{"": {file + " [engine]", map[string]any{}}}
	for key, value := range table {
		if named, is := value.(map[string]any); is {
			engines[key] = layer{fmt.Sprintf("%s [engine.%s]", file, key), named}
		} else {
			engines[""].keys[key] = value
		}
	}
	known := keysOf(engineKeys(&regress.Remote{}))
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		l := engines[name]
		if err := l.check(known); err != nil {
			return nil, err
		}
	}
	return engines, nil
}

// keysOf returns the names of flags and further keys.
func keysOf(f *pflag.FlagSet, more ...string) []string {
	f.VisitAll(func(flag *pflag.Flag) { more = append(more, flag.Name) })
	return more
}

func tables(file string, value any) (map[string]map[string]any, error) {
	if value == nil {
		return nil, nil
	}
	outer, ok := value.(map[string]any)
	found := make(map[string]map[string]any, len(outer))
	for name, inner := range outer {
		table, isTable := inner.(map[string]any)
		ok = ok && isTable
		found[name] = table
	}
	if !ok {
		return nil, usagef("%s: profiles are tables, as in [profile.ci]", file)
	}
	return found, nil
}

// check refuses unknown keys, and suggests the nearest known one.
func (l *layer) check(names []string) error {
	for _, key := range slices.Sorted(maps.Keys(l.keys)) {
		if !slices.Contains(names, key) {
			return usagef("%s: unknown key %q%s", l.where, key, cmp.Or(engineHint(key), suggest(key, names)))
		}
	}
	return nil
}

// set gives a flag the value of a key. A list sets the flag once for each element.
func (l *layer) set(f *pflag.FlagSet, key string, value any) error {
	values, isList := value.([]any)
	switch {
	case !isList:
		values = []any{value}
	case !strings.HasPrefix(f.Lookup(key).Value.Type(), "string"): // stringArray, stringSlice
		return usagef("%s: %s is a list: give one value", l.where, key)
	case len(values) == 0:
		return usagef("%s: %s = []: leave the key out, or write [\"\"] for none", l.where, key)
	}
	for _, v := range values {
		switch v.(type) {
		case string, int64, float64, bool:
		default:
			return usagef("%s: %s = %v: give a string, a number, true or false, or a list of strings", l.where, key, v)
		}
		if err := f.Set(key, fmt.Sprint(v)); err != nil {
			return usagef("%s: %w", l.at(key), err)
		}
	}
	return nil
}

// setJob applies the keys that are not flags, unless a higher layer has set them.
func (l *layer) setJob(o *regress.Options) error {
	if value, ok := l.keys[corpusKey]; ok && o.Corpus.Path == "" {
		path, isString := value.(string)
		if !isString {
			return usagef("%s: corpus = %v: give a path", l.where, value)
		}
		o.Corpus.Path = path
	}
	if len(o.Command.Words) > 0 || len(o.Command.ByGlob) > 0 {
		return nil
	}
	if value, ok := l.keys[commandKey]; ok {
		words, err := l.words(value)
		if err != nil {
			return err
		}
		o.Command.Words = words
	}
	return l.setCommands(o)
}

func (l *layer) setCommands(o *regress.Options) error {
	list, ok := l.keys[commandsKey]
	if !ok {
		return nil
	}
	const form = `[[commands]] has a glob and a command, as in glob = "*.c", command = ["cc", "-c", "{in}"]`
	entries, ok := list.([]any)
	if !ok {
		return usagef("%s: %s", l.where, form)
	}
	for _, e := range entries {
		table, _ := e.(map[string]any)
		glob, isString := table["glob"].(string)
		if !isString || len(table) != 2 || table[commandKey] == nil {
			return usagef("%s: %s", l.where, form)
		}
		words, err := l.words(table[commandKey])
		if err != nil {
			return err
		}
		o.Command.ByGlob = append(o.Command.ByGlob, regress.GlobCommand{Glob: glob, Words: words})
	}
	return nil
}

func (l *layer) words(value any) ([]string, error) {
	switch v := value.(type) {
	case string:
		return splitCommand(l.at(commandKey)+": command", v)
	case []any:
		words := make([]string, len(v))
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, usagef("%s: command: %v is not a string", l.where, e)
			}
			words[i] = s
		}
		return words, nil
	}
	return nil, usagef("%s: command = %v: give a string or a list of strings", l.where, value)
}

// splitCommand splits a command line into words like a shell, with its quotes.
func splitCommand(where, line string) ([]string, error) {
	words, err := shellquote.Split(line)
	if err != nil {
		return nil, usagef("%s %.100q: %w", where, line, err)
	}
	if len(words) == 0 {
		return nil, usagef("%s is empty", where)
	}
	return words, nil
}
