package tree

//lint:file-ignore SA1019 engines of version 2.0 know nothing else, and must be asked and heard

import repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

// setPlatform sets the properties where engines before version 2.2 look for them. Later engines
// read them from the action.
func setPlatform(m *repb.Command, p *repb.Platform) { m.Platform = p }

// setOutputs requests outputs in the form of engines before version 2.1: as files, except the
// whole work folder.
func setOutputs(m *repb.Command, outputs []string) {
	for _, path := range outputs {
		if path == "" || path == "." {
			m.OutputDirectories = append(m.OutputDirectories, path)
		} else {
			m.OutputFiles = append(m.OutputFiles, path)
		}
	}
}

// links returns all links in a result. Engines before version 2.1 list links to files and links
// to folders separately. Later engines may use both forms.
func links(r *repb.ActionResult) (all []*repb.OutputSymlink) {
	all = append(all, r.GetOutputSymlinks()...)
	all = append(all, r.GetOutputFileSymlinks()...)
	return append(all, r.GetOutputDirectorySymlinks()...)
}
