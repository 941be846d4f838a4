package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

const remoteEngine = "../../../../../scripts/remote-engine"

// compiling is gcc on one source, or on what else runs in the engine's sandbox.
func compiling(source blob.Blob, arguments ...string) []blob.Blob {
	root := message(&repb.Directory{Files: []*repb.FileNode{{Name: "a.c", Digest: source.Digest.Proto()}}})
	command := message(&repb.Command{
		Arguments: arguments, OutputPaths: []string{"a.s"},
		EnvironmentVariables: []*repb.Command_EnvironmentVariable{{Name: "PATH", Value: "/usr/bin:/bin"}},
	})
	action := message(&repb.Action{
		CommandDigest: command.Digest.Proto(), InputRootDigest: root.Digest.Proto(), Timeout: durationpb.New(time.Second),
	})
	return []blob.Blob{action, command, root}
}

func TestRealEngine(t *testing.T) {
	port, folder := reapitest.FreePort(t), t.TempDir()
	stop := reapitest.Installed(t, remoteEngine, port, folder)
	c, err := client.Dial(t.Context(), client.Options{URL: "grpc://127.0.0.1:" + port})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &rig{T: t, Client: c}

	source := blob.Of([]byte("int answer(void) { return 42; }\n"))
	gcc := compiling(source, "gcc", "-S", "a.c")
	r.must(c.Upload(t.Context(), gcc))
	_, err = c.Execute(t.Context(), client.Execution{Action: gcc[0].Digest})
	if !errors.As(err, new(*client.MissingError)) {
		t.Errorf("without its source: %v", err)
	}
	r.must(c.Upload(t.Context(), []blob.Blob{source}))
	for _, cached := range []bool{false, true} {
		response, err := c.Execute(t.Context(), client.Execution{Action: gcc[0].Digest})
		r.must(err)
		if response.CachedResult != cached || response.Result.ExitCode != 0 || len(response.Result.OutputFiles) != 1 {
			t.Fatalf("gcc gave %v", response)
		}
		if text := r.output(response.Result.OutputFiles[0].Digest); !strings.Contains(text, "answer") {
			t.Errorf("assembler: %q", text)
		}
	}

	slow := compiling(source, "sleep", "60")
	r.must(c.Upload(t.Context(), slow))
	response, err := c.Execute(t.Context(), client.Execution{Action: slow[0].Digest})
	if err != nil || codes.Code(response.Status.GetCode()) != codes.DeadlineExceeded {
		t.Errorf("an action that takes too long: %v, %v", response, err)
	}

	large := noise(9 << 20)
	r.must(c.Upload(t.Context(), append(contents(2000, 500), large)))
	r.read(large)

	// Killed, and started again with what it kept: the client goes on.
	stop()
	reapitest.Installed(t, remoteEngine, port, folder)
	r.read(large)
	failing := compiling(source, "false")
	r.must(c.Upload(t.Context(), failing))
	response, err = c.Execute(t.Context(), client.Execution{Action: failing[0].Digest})
	if err != nil || response.Result.ExitCode != 1 {
		t.Errorf("false gave %v, %v", response, err)
	}
}

// output reads what a message names.
func (r *rig) output(m *repb.Digest) string {
	r.Helper()
	d, err := blob.FromProto(m)
	r.must(err)
	data, err := r.Read(r.Context(), d)
	r.must(err)
	return string(data)
}
