package tree

import (
	"path"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/outcome"
)

// compareNamed compares the outputs that the result names one by one.
func (c *comparison) compareNamed(r *repb.ActionResult) {
	for _, f := range r.GetOutputFiles() {
		had := c.had(f.GetPath())
		c.file(f.GetPath(), had, f.GetDigest(), f.GetIsExecutable(), f.GetContents())
	}
	for _, s := range links(r) {
		c.link(s.GetPath(), c.had(s.GetPath()), s.GetTarget())
	}
}

// noteUnnamed records requested outputs that were given and no longer exist.
func (c *comparison) noteUnnamed(r *repb.ActionResult) {
	var files, folders []string
	for _, f := range r.GetOutputFiles() {
		files = append(files, f.GetPath())
	}
	for _, s := range links(r) {
		files = append(files, s.GetPath())
	}
	for _, d := range r.GetOutputDirectories() {
		folders = append(folders, strings.TrimSuffix(d.GetPath(), "/"))
	}
	for _, at := range c.Paths {
		had := c.had(at)
		switch {
		case had == nil || slices.ContainsFunc(folders, func(above string) bool { return strings.HasPrefix(at, above+"/") }):
		case had.kind == aFolder && !slices.Contains(folders, at):
			c.gone(at, had.sub, nil, nil)
		case had.kind != aFolder && !slices.Contains(files, at):
			c.add(Output{Part: part(at, outcome.Gone), Inlined: true})
		}
	}
}

// had returns the entry that the work folder had at a path, or nil.
func (c *comparison) had(at string) *entry {
	dir, name := path.Split(at)
	return c.Before.Sub(strings.TrimSuffix(dir, "/")).find(name)
}
