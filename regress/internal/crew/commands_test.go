package crew

import (
	"maps"
	"slices"
	"testing"

	"muster/regress/internal/exec"
)

// A command is its words; commands by glob count with their place.
func TestIdentify(t *testing.T) {
	id := func(c Commands) map[string]string {
		all := map[string]string{}
		c.Identify(all)
		return all
	}
	cc := &exec.Command{Words: []string{"cc", "{in}"}, Path: "/usr/bin/cc"}
	other := *cc
	other.Path = "/opt/bin/cc"
	as := &exec.Command{Words: []string{"as"}, Path: "/usr/bin/as"}
	base := Commands{Main: cc, ByGlob: []GlobCommand{{"*.s", as}, {"*.S", cc}}}
	for _, c := range []struct {
		changed Commands
		want    string
	}{
		{Commands{Main: cc, ByGlob: []GlobCommand{{"*.s", as}, {"*.S", cc}}}, ""},
		{Commands{Main: as, ByGlob: base.ByGlob}, "the command"},
		{Commands{Main: &other, ByGlob: base.ByGlob}, "the command's executable"},
		{Commands{Main: nil, ByGlob: base.ByGlob}, "the command"},
		{Commands{Main: cc, ByGlob: []GlobCommand{{"*.S", cc}, {"*.s", as}}}, "the command for *.S, its place"},
		{Commands{Main: cc, ByGlob: []GlobCommand{{"*.s", cc}, {"*.S", cc}}}, "the command for *.s"},
		{Commands{Main: cc, ByGlob: nil}, "the command for *.S"},
	} {
		if got := differsIn(id(base), id(c.changed)); got != c.want {
			t.Errorf("%+v differs in %q, want %q", c.changed, got, c.want)
		}
	}
}

// differsIn returns the first key that two identities do not share with one value, or "".
func differsIn(a, b map[string]string) string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		if was, ok := a[key]; !ok || was != both[key] {
			return key
		}
		if _, ok := b[key]; !ok {
			return key
		}
	}
	return ""
}
