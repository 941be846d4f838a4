package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/enginetest"
)

// serveCache serves a new store as muster serve does, and says that it also executes actions.
// Without that the client would refuse it.
func serveCache(t *testing.T) *httptest.Server {
	t.Helper()
	const asked = "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities"
	store := files.NewServer(enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone}), files.Options{})
	var server *httptest.Server
	says := connect.NewUnaryHandler(asked, func(ctx context.Context, r *connect.Request[repb.GetCapabilitiesRequest]) (*connect.Response[repb.ServerCapabilities], error) {
		got, err := repb.NewCapabilitiesClient(plainConn(t, server)).GetCapabilities(ctx, r.Msg)
		got.ExecutionCapabilities = &repb.ExecutionCapabilities{DigestFunction: repb.DigestFunction_SHA256, ExecEnabled: true}
		return connect.NewResponse(got), err
	})
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == asked && !strings.HasPrefix(r.UserAgent(), "plain") {
			says.ServeHTTP(w, r)
			return
		}
		store.ServeHTTP(w, r)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func plainConn(t *testing.T, server *httptest.Server) *grpc.ClientConn {
	conn, err := grpc.NewClient("passthrough:///"+server.Listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUserAgent("plain"))
	if err != nil {
		t.Error(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// The cache services of muster serve, as muster's own client uses them.
func TestFileServer(t *testing.T) {
	server := serveCache(t)
	c, err := client.Dial(t.Context(), client.Options{URL: "grpc://" + server.Listener.Addr().String(), Instance: "team"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &rig{T: t, Client: c}
	large := noise(9 << 20)
	blobs := append(contents(2000, 500), large, opened(noise(1<<20+1)), blob.Of(nil))
	r.must(c.Upload(t.Context(), blobs))
	r.read(large)
	for _, b := range append(blobs[:20], blobs[2002]) {
		r.read(b)
	}
	var all []blob.Digest
	for _, b := range append(contents(30_000, 300), blobs[:2000]...) { // more than one request holds
		all = append(all, b.Digest)
	}
	missing, err := c.FindMissing(t.Context(), all)
	if err != nil || len(missing) != 30_000 {
		t.Errorf("%d missing, %v", len(missing), err)
	}

	action := client.Execution{Action: blob.Of([]byte("an action")).Digest}
	if _, known, err := c.Result(t.Context(), action); known || err != nil {
		t.Error("a result before there is one", err)
	}
	_, err = repb.NewActionCacheClient(plainConn(t, server)).UpdateActionResult(t.Context(), &repb.UpdateActionResultRequest{
		InstanceName: "team", ActionDigest: action.Action.Proto(),
		ActionResult: &repb.ActionResult{ExitCode: 3, OutputFiles: []*repb.OutputFile{{Path: "out", Digest: large.Digest.Proto()}}},
	})
	r.must(err)
	got, known, err := c.Result(t.Context(), action)
	if err != nil || !known || got.ExitCode != 3 {
		t.Error(got, known, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+"/files/team/cas/"+large.Digest.Hash.String(), nil)
	r.must(err)
	answer, err := http.DefaultClient.Do(request)
	r.must(err)
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if _, known, err := c.Result(t.Context(), action); known || err != nil || answer.StatusCode != 204 {
		t.Errorf("without its output, %d: %v, %v", answer.StatusCode, known, err)
	}
}
