package tree

//lint:file-ignore SA1019 engines of version 2.0 know nothing else, and must be asked and heard

import repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

// setPlatform puts the properties where engines before version 2.2 look for them; later
// ones have them from the action.
func setPlatform(m *repb.Command, p *repb.Platform) { m.Platform = p }

// setOutputs asks for outputs as engines before version 2.1 want it: they are files, but
// for the whole work folder.
func setOutputs(m *repb.Command, outputs []string) {
	for _, path := range outputs {
		if path == "" || path == "." {
			m.OutputDirectories = append(m.OutputDirectories, path)
		} else {
			m.OutputFiles = append(m.OutputFiles, path)
		}
	}
}

// links are all that a result names: engines before version 2.1 tell links to files from
// those to folders, and later ones may say it in both ways.
func links(r *repb.ActionResult) (all []*repb.OutputSymlink) {
	all = append(all, r.GetOutputSymlinks()...)
	all = append(all, r.GetOutputFileSymlinks()...)
	return append(all, r.GetOutputDirectorySymlinks()...)
}
