package test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// readYAML reads a file with the known fields of v, and refuses others.
func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// A script that YAML runs must exist, and the system must be able to run it.
func checkScript(t *testing.T, where, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%s runs %s, which is no executable file", where, path)
		return
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(text, []byte("#!/bin/sh\n")) {
		t.Errorf("%s does not begin with #!/bin/sh: %v", path, err)
	}
}

// gitHubAction is the metadata of an action, with all keys that a composite action may have and this one
// uses.
type gitHubAction struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Outputs           map[string]struct{ Description, Value string }
	Runs              struct {
		Using string
		Steps []struct {
			Name, ID, If, Shell, Run, Uses string
			Env, With                      map[string]string
		}
	}
}

// A step runs a script of the action, or an action that is pinned to a commit. Only its variables have
// expressions: in a shell line, the value of an expression would be code.
func TestGitHubAction(t *testing.T) {
	const folder = "contrib/github"
	var action gitHubAction
	readYAML(t, folder+"/action.yml", &action)
	if action.Name == "" || action.Description == "" || action.Runs.Using != "composite" || len(action.Runs.Steps) == 0 {
		t.Errorf("%s/action.yml is no composite action", folder)
	}
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	own := regexp.MustCompile(`^"\$GITHUB_ACTION_PATH/([a-z]+)"$`)
	var ids, scripts, expressions []string
	for _, s := range action.Runs.Steps {
		switch name := own.FindStringSubmatch(s.Run); {
		case s.Uses != "":
			if !pinned.MatchString(s.Uses) || s.Run != "" {
				t.Errorf("step %q uses %s: pin it to a commit", s.Name, s.Uses)
			}
		case name == nil || s.Shell != "sh":
			t.Errorf("step %q runs %s in the shell %q: run a script of the folder in sh", s.Name, s.Run, s.Shell)
		default:
			checkScript(t, "step "+s.Name, filepath.Join(folder, name[1]))
			scripts = append(scripts, name[1])
		}
		ids = append(ids, s.ID)
		expressions = append(expressions, s.If)
		for _, list := range []map[string]string{s.Env, s.With} {
			for _, value := range list {
				expressions = append(expressions, value)
			}
		}
	}
	for _, o := range action.Outputs {
		expressions = append(expressions, o.Value)
	}
	names := regexp.MustCompile(`(inputs|steps)\.([a-z-]+)`)
	for _, e := range expressions {
		for _, m := range names.FindAllStringSubmatch(e, -1) {
			_, isInput := action.Inputs[m[2]]
			if m[1] == "inputs" && !isInput || m[1] == "steps" && !slices.Contains(ids, m[2]) {
				t.Errorf("%s has %s, which action.yml does not define", e, m[0])
			}
		}
	}
	checkAllUsed(t, folder, append(scripts, "action.yml"))
	checkVariables(t, action)
}

// checkVariables compares the variables that a step sets with those that its script reads.
func checkVariables(t *testing.T, action gitHubAction) {
	t.Helper()
	variable := regexp.MustCompile(`\$\{?([A-Z][A-Z_]+)|\benv\.([A-Z_]+)`)
	ofGitHub := []string{"GITHUB_REPOSITORY", "GITHUB_OUTPUT"}
	readElsewhere := []string{"GH_TOKEN", "MUSTER_GOLDEN"} // by gh and by muster
	for _, s := range action.Runs.Steps {
		_, script, isScript := strings.Cut(strings.Trim(s.Run, `"`), "/")
		if !isScript {
			continue
		}
		text, err := os.ReadFile("contrib/github/" + script)
		if err != nil {
			t.Fatal(err)
		}
		var read []string
		for _, m := range variable.FindAllStringSubmatch(string(text), -1) {
			name := m[1] + m[2]
			read = append(read, name)
			if _, isSet := s.Env[name]; !isSet && !slices.Contains(ofGitHub, name) {
				t.Errorf("%s reads %s, which its step does not set", script, name)
			}
		}
		for name := range s.Env {
			if !slices.Contains(read, name) && !slices.Contains(readElsewhere, name) {
				t.Errorf("the step of %s sets %s, which the script does not read", script, name)
			}
		}
	}
}

// checkAllUsed finds files of a folder that nothing names.
func checkAllUsed(t *testing.T, folder string, used []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(used, f.Name()) {
			t.Errorf("%s/%s is used by nothing", folder, f.Name())
		}
	}
}

// The template of GitLab runs scripts of its folder, or muster alone.
func TestGitLabTemplate(t *testing.T) {
	const folder = "contrib/gitlab"
	type job struct {
		Stage     string
		Rules     []struct{ If string }
		Script    []string
		Artifacts struct {
			When     string
			ExposeAs string `yaml:"expose_as"`
			ExpireIn string `yaml:"expire_in"`
			Paths    []string
			Reports  map[string]string
		}
	}
	var template struct {
		Variables map[string]string
		Jobs      map[string]job `yaml:",inline"`
	}
	readYAML(t, folder+"/muster.yml", &template)
	used := []string{"muster.yml"}
	for name, job := range template.Jobs {
		if !strings.HasPrefix(name, ".") || len(job.Script) == 0 {
			t.Errorf("%s is no template of a job", name)
		}
		for _, line := range job.Script {
			script, isOwn := strings.CutPrefix(line, "sh .gitlab/muster/")
			if !isOwn && line != "muster record" {
				t.Errorf("%s runs %s: run a script of the folder", name, line)
			}
			if isOwn {
				checkScript(t, name, filepath.Join(folder, script))
				used = append(used, script)
			}
		}
		for _, path := range job.Artifacts.Paths {
			// the golden may have another name
			if variable, isVariable := strings.CutPrefix(path, "$"); isVariable && template.Variables[variable] == "" || path == "muster.golden" {
				t.Errorf("%s keeps %s: name a variable that the template sets", name, path)
			}
		}
		for kind, path := range job.Artifacts.Reports {
			if text, err := os.ReadFile(folder + "/check"); err != nil || !strings.Contains(string(text), " "+path+" ") {
				t.Errorf("%s: check does not write the report %s, %s: %v", name, kind, path, err)
			}
		}
	}
	checkAllUsed(t, folder, used)
}
