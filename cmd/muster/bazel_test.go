package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBazel builds with Bazel through a server, over gRPC, and again as on another machine. The
// second build gets everything from the server, and so does one over HTTP. When an output is
// gone, its action runs again.
func TestBazel(t *testing.T) {
	if testing.Short() {
		t.Skip("three builds with Bazel")
	}
	if _, err := exec.LookPath("bazel"); err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal("no bazel: scripts/install-test-tools, run as root, installs what tests need")
		}
		t.Skip("no bazel")
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := startServer(t, build(t), "--data", filepath.Join(t.TempDir(), "kept"), "--sync", "none", "--token-file", token)
	folder := t.TempDir()
	for name, text := range map[string]string{"WORKSPACE": "", "BUILD": bazelRules} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grpc := []string{"--remote_cache=" + strings.Replace(url, "http", "grpc", 1), "--remote_instance_name=team/bazel"}
	bazelBuild(t, folder, " 9 local", grpc...)
	bazelBuild(t, folder, " 9 remote cache hit", grpc...)
	if os.Getenv("MUSTER_LONG") != "" {
		bazelBuild(t, folder, " 9 remote cache hit", "--remote_cache="+url+"/files/team/bazel")
	}

	// the file of 4 MB
	const output = "/files/team/bazel/cas/0506ff915015dbf5c9743a255c99cc7b27135caf42c593a1521ea705248331ed"
	runIn(t.Context(), t, os.Environ(), "curl", "-sSf", "-X", "DELETE", "-H", "Authorization: Bearer secret", url+output)
	bazelBuild(t, folder, " 8 remote cache hit, 1 internal, 1 local", grpc...)
}

// bazelRules are eight files, the last one larger than what one message holds, and one that
// depends on them.
const bazelRules = `
[genrule(name = "r%d" % i, outs = ["out%d" % i], cmd = "head -c %d /dev/zero | tr '\\000' %d > $@" % (i * i * i * 8000, i)) for i in range(1, 9)]
genrule(name = "all", srcs = ["r%d" % i for i in range(1, 9)], outs = ["sum"], cmd = "cat $(SRCS) | wc -c > $@")
`

// bazelBuild builds everything with a new output folder, and checks where the results came from.
func bazelBuild(t *testing.T, folder, want string, flags ...string) {
	t.Helper()
	output := t.TempDir()
	words := append([]string{
		"--batch", "--output_user_root=" + output, "build", "--symlink_prefix=/", "--spawn_strategy=local", "--noshow_progress",
		"--remote_header=Authorization=Bearer secret",
	}, flags...)
	cmd := exec.CommandContext(t.Context(), "bazel", append(words, "//:all")...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "HOME="+output)
	text, err := cmd.CombinedOutput()
	// Bazel makes its folders read-only
	_ = exec.CommandContext(t.Context(), "chmod", "-R", "u+w", output).Run()
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v: %v, not %q:\n%s", cmd, err, want, text)
	}
}
