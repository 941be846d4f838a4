package tree

//lint:file-ignore SA1019 some engines look for the platform there, and some use the old lists of links

import repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

// setPlatform sets the properties where engines before version 2.2 look for them. Later engines
// read them from the action.
func setPlatform(m *repb.Command, p *repb.Platform) { m.Platform = p }

// links returns all links in a result. Some engines list links to files and links to folders separately.
func links(r *repb.ActionResult) (all []*repb.OutputSymlink) {
	all = append(all, r.GetOutputSymlinks()...)
	all = append(all, r.GetOutputFileSymlinks()...)
	return append(all, r.GetOutputDirectorySymlinks()...)
}
