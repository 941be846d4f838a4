package remotecache_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"

	"muster/files"
)

const (
	batchUpdate = "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs"
	findMissing = "/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs"
	streamWrite = "/google.bytestream.ByteStream/Write"
)

// raw sends a body as it is, in a request of HTTP/2, and returns gRPC's status and message.
func (r *rig) raw(ctx context.Context, path string, body io.Reader, headers ...string) (string, error) {
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &h2c}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, body)
	r.must(err)
	request.Header.Set("Content-Type", "application/grpc")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	got, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer got.Body.Close()
	_, err = io.Copy(io.Discard, got.Body)
	return got.Trailer.Get("Grpc-Status") + got.Header.Get("Grpc-Status") + " " + got.Trailer.Get("Grpc-Message"), err
}

// announce is a message's prefix, and the first bytes of the message.
func announce(size uint32, data string) string {
	return string(binary.BigEndian.AppendUint32([]byte{0}, size)) + data
}

// compressed is a message that gzip has compressed.
func (r *rig) compressed(data string) string {
	r.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, data)
	r.must(err)
	r.must(w.Close())
	return "\x01" + announce(uint32(b.Len()), b.String())[1:]
}

// endless is a body that never goes on after its beginning.
func endless(begin string) io.ReadCloser {
	r, _ := io.Pipe()
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(begin), r), r}
}

// Bodies that are not gRPC, or not protobuf, or have no end.
func TestHostileBodies(t *testing.T) {
	r := newRig(t, files.Options{})
	d := digestOf([]byte("x"))
	name := uploadOf("", d)
	named := "\x0a" + string(rune(len(name))) + name
	long := strings.Repeat("a", 127)
	for what, row := range map[string]struct{ path, body, code string }{
		"no message":                 {batchUpdate, "", "12"},
		"half a prefix":              {batchUpdate, "\x00\x00", "13"},
		"half a message":             {batchUpdate, announce(10, "\x12"), "13"},
		"no protobuf":                {batchUpdate, announce(1, "\xff"), "3"},
		"an unsupported compression": {batchUpdate, "\x01\x00\x00\x00\x01x", "13"},
		"no upload":                  {streamWrite, "", "3"},
		"half a prefix of an upload": {streamWrite, "\x00\x00", "1"},
		"half an upload":             {streamWrite, announce(1<<20, named+"\x52\xff\x01x"), "1"},
		"a compressed upload":        {streamWrite, "\x01\x00\x00\x00\x01x", "12"},
		"a wrong tag":                {streamWrite, announce(2, "\x00\x00"), "3"},
		"a tag without an end":       {streamWrite, announce(11, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "3"},
		"a tag cut off":              {streamWrite, announce(1, "\xff"), "3"},
		"a group":                    {streamWrite, announce(2, "\x7b\x7c"), "3"},
		"a field beyond its message": {streamWrite, announce(3, "\x0a\x7fx"), "3"},
		"data before the name":       {streamWrite, announce(uint32(3+len(named)), "\x52\x01x"+named), "3"},
		"a name as a number":         {streamWrite, announce(2, "\x08\x01"), "3"},
		"unknown fields without end": {streamWrite, announce(129*600, strings.Repeat("\x7a\x7f"+long, 600)), "3"},
		"a name that is too long":    {streamWrite, announce(5003, "\x0a\x88\x27"+strings.Repeat("a", 5000)), "3"},
		"another method":             {"/build.bazel.remote.execution.v2.Execution/Execute", announce(0, ""), "12"},
		"another method of streams":  {"/google.bytestream.ByteStream/Other", announce(0, ""), "12"},
	} {
		if got, err := r.raw(t.Context(), row.path, strings.NewReader(row.body)); err != nil || !strings.HasPrefix(got, row.code+" ") {
			t.Errorf("%s: %q, %v, not %s", what, got, err, row.code)
		}
	}
	// These are refused before the rest comes.
	for what, row := range map[string]struct{ path, body, code string }{
		"a huge message":       {batchUpdate, announce(1<<32-1, ""), "8 a message of 4294967295 bytes is too large:"},
		"a wrong tag":          {streamWrite, announce(1<<32-1, "\x00"), "3"},
		"an unwanted encoding": {streamWrite, "\x01\xff\xff\xff\xff", "12"},
		"a second message":     {batchUpdate, announce(0, "") + announce(1<<20, "\x12"), "12 the method takes one message,"},
	} {
		if got, err := r.raw(t.Context(), row.path, endless(row.body)); err != nil || !strings.HasPrefix(got, row.code+" ") {
			t.Errorf("%s: %q, %v, not %s", what, got, err, row.code)
		}
	}
	unzipped, err := r.raw(t.Context(), streamWrite, strings.NewReader("\x01\x00\x00\x00\x0bno gzip....."), "Grpc-Encoding", "gzip")
	if err != nil || !strings.HasPrefix(unzipped, "1 ") {
		t.Errorf("no gzip: %q, %v", unzipped, err)
	}
	for what, fields := range map[string]string{ // a byte of gzip may become a thousand
		"an unknown field without end": "\x7a\xff\xff\xff\xff\x7f" + strings.Repeat("\x00", 1<<20),
		"offsets without end":          strings.Repeat("\x10\x00", 1<<20),
	} {
		var bomb bytes.Buffer
		w := gzip.NewWriter(&bomb)
		_, err := io.WriteString(w, named+fields)
		r.must(err)
		r.must(w.Flush())
		body := endless("\x01\xff\xff\xff\xff" + bomb.String())
		if got, err := r.raw(t.Context(), streamWrite, body, "Grpc-Encoding", "gzip"); err != nil || !strings.HasPrefix(got, "3 ") {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	if got := r.missing("", d); got != 1 {
		t.Error("the content is here")
	}
	for _, kind := range []string{"application/json", "application/grpc-web", "application/grpc+json", ""} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+batchUpdate, bytes.NewReader(nil))
		r.must(err)
		request.Header.Set("Content-Type", kind)
		got, err := http.DefaultClient.Do(request)
		r.must(err)
		got.Body.Close()
		if got.StatusCode != http.StatusUnsupportedMediaType {
			t.Error(kind, got.Status)
		}
	}
}

// The same tokens as for files.
func TestToken(t *testing.T) {
	r := newRig(t, files.Options{Tokens: []string{"secret"}})
	_, err := r.about.GetCapabilities(t.Context(), &repb.GetCapabilitiesRequest{})
	r.wants("without a token", err, codes.Unauthenticated)
}
