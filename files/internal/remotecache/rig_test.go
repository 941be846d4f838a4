package remotecache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
)

// rig is a file server, and gRPC's own client of it.
type rig struct {
	*testing.T
	url   string
	cas   repb.ContentAddressableStorageClient
	ac    repb.ActionCacheClient
	bytes bytestream.ByteStreamClient
	about repb.CapabilitiesClient
}

func newRig(t *testing.T, o files.Options, dial ...grpc.DialOption) *rig {
	t.Helper()
	store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := httptest.NewUnstartedServer(files.NewServer(store, o))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return (&rig{T: t, url: server.URL}).from("127.0.0.1", dial...)
}

// from returns a client of the same server at another address of this machine.
func (r *rig) from(address string, dial ...grpc.DialOption) *rig {
	r.Helper()
	local := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	dial = append(dial, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(
		func(ctx context.Context, at string) (net.Conn, error) { return local.DialContext(ctx, "tcp", at) }))
	conn, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(r.url, "http://"), dial...)
	r.must(err)
	r.Cleanup(func() { conn.Close() })
	return &rig{
		T: r.T, url: r.url, cas: repb.NewContentAddressableStorageClient(conn), ac: repb.NewActionCacheClient(conn),
		bytes: bytestream.NewByteStreamClient(conn), about: repb.NewCapabilitiesClient(conn),
	}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// wants checks the code of an answer.
func (r *rig) wants(what string, err error, code codes.Code) {
	r.Helper()
	if status.Code(err) != code {
		r.Errorf("%s: %v, not %v", what, err, code)
	}
}

func digestOf(data []byte) *repb.Digest {
	sum := sha256.Sum256(data)
	return &repb.Digest{Hash: hex.EncodeToString(sum[:]), SizeBytes: int64(len(data))}
}

// put stores a content in a batch, and returns its digest.
func (r *rig) put(at string, data []byte) *repb.Digest {
	r.Helper()
	d := digestOf(data)
	answer, err := r.cas.BatchUpdateBlobs(r.Context(), &repb.BatchUpdateBlobsRequest{
		InstanceName: at, Requests: []*repb.BatchUpdateBlobsRequest_Request{{Digest: d, Data: data}},
	})
	r.must(err)
	r.must(status.ErrorProto(answer.Responses[0].Status))
	return d
}

func (r *rig) message(at string, m proto.Message) *repb.Digest {
	r.Helper()
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	r.must(err)
	return r.put(at, data)
}

// read returns the data that ByteStream.Read sends.
func (r *rig) read(request *bytestream.ReadRequest) ([]byte, error) {
	stream, err := r.bytes.Read(r.Context(), request)
	r.must(err)
	var data []byte
	for {
		part, err := stream.Recv()
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
		data = append(data, part.Data...)
	}
}

// write sends messages with ByteStream.Write, until the server answers.
func (r *rig) write(messages ...*bytestream.WriteRequest) (int64, error) {
	stream, err := r.bytes.Write(r.Context())
	r.must(err)
	for _, m := range messages {
		if err := stream.Send(m); err != nil {
			break // the answer has the reason
		}
	}
	answer, err := stream.CloseAndRecv()
	return answer.GetCommittedSize(), err
}

const uuid = "0c4a7d7e-8f3a-4b41-9f0e-3f6f0f0e5a11"

func uploadOf(at string, d *repb.Digest) string {
	return strings.TrimPrefix(fmt.Sprintf("%s/uploads/%s/blobs/%s/%d", at, uuid, d.Hash, d.SizeBytes), "/")
}

func resourceOf(at string, d *repb.Digest) string {
	return strings.TrimPrefix(fmt.Sprintf("%s/blobs/%s/%d", at, d.Hash, d.SizeBytes), "/")
}

// pieces divides an upload into messages of n bytes.
func pieces(name string, data []byte, n int) (list []*bytestream.WriteRequest) {
	for offset := 0; ; offset += n {
		end := min(offset+n, len(data))
		list = append(list, &bytestream.WriteRequest{ResourceName: name, WriteOffset: int64(offset), Data: data[offset:end], FinishWrite: end == len(data)})
		if name = ""; end == len(data) {
			return list
		}
	}
}

// missing returns how many contents FindMissingBlobs reports.
func (r *rig) missing(at string, list ...*repb.Digest) int {
	r.Helper()
	answer, err := r.cas.FindMissingBlobs(r.Context(), &repb.FindMissingBlobsRequest{InstanceName: at, BlobDigests: list})
	r.must(err)
	return len(answer.MissingBlobDigests)
}

// http makes a request of the file server.
func (r *rig) http(method, name string, body []byte) (code int, answer []byte) {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), method, r.url+"/files/"+name, bytes.NewReader(body))
	r.must(err)
	got, err := http.DefaultClient.Do(request)
	r.must(err)
	defer got.Body.Close()
	answer, err = io.ReadAll(got.Body)
	r.must(err)
	return got.StatusCode, answer
}
