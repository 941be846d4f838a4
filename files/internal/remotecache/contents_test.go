package remotecache_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/proto"

	"muster/files"
	"muster/test/kits/enginetest"
)

func TestCapabilities(t *testing.T) {
	r := newRig(t, files.Options{BodyMax: 5 << 20})
	got, err := r.about.GetCapabilities(t.Context(), &repb.GetCapabilitiesRequest{InstanceName: "team/a"})
	r.must(err)
	cache := got.CacheCapabilities
	if len(cache.DigestFunctions) != 1 || cache.DigestFunctions[0] != repb.DigestFunction_SHA256 ||
		!cache.ActionCacheUpdateCapabilities.UpdateEnabled || cache.MaxBatchTotalSizeBytes != 1<<20 ||
		cache.MaxCasBlobSizeBytes != 5<<20 || len(cache.SupportedCompressors)+len(cache.SupportedBatchUpdateCompressors) != 0 {
		t.Error(cache)
	}
	if got.ExecutionCapabilities.GetExecEnabled() || got.LowApiVersion.Major != 2 || got.HighApiVersion.Major != 2 {
		t.Error(got)
	}
}

// The same contents by every method and over HTTP.
func TestContents(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		var options []grpc.DialOption
		if compressed {
			options = append(options, grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name)))
		}
		r := newRig(t, files.Options{}, options...)
		for i, size := range []int{0, 1, 50_000, 262_144, 3_000_000} {
			data := enginetest.Content(i, size)
			d := digestOf(data)
			if got := r.missing("team/a", d); got != min(size, 1) {
				t.Errorf("%d of 1 missing", got)
			}
			for range 2 { // the second upload ends early
				n, err := r.write(pieces(uploadOf("team/a", d)+"/some/metadata", data, 70_000)...)
				if err != nil || n != int64(size) {
					t.Errorf("%d of %d bytes, %v", n, size, err)
				}
			}
			if got := r.missing("team/a", d); got != 0 {
				t.Error("it is missing after the upload")
			}
			got, err := r.read(&bytestream.ReadRequest{ResourceName: resourceOf("team/a", d)})
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d of %d bytes read, %v", len(got), size, err)
			}
			state, err := r.bytes.QueryWriteStatus(t.Context(), &bytestream.QueryWriteStatusRequest{ResourceName: uploadOf("team/a", d)})
			if err != nil || !state.Complete || state.CommittedSize != int64(size) {
				t.Error(state, err)
			}
			if code, body := r.http("GET", "team/a/cas/"+d.Hash, nil); size > 0 && (code != 200 || !bytes.Equal(body, data)) {
				t.Errorf("over HTTP: %d with %d bytes", code, len(body))
			}
		}
	}
}

func TestRangesOfRead(t *testing.T) {
	r := newRig(t, files.Options{})
	data := enginetest.Content(1, 700_000)
	d := digestOf(data)
	if code, _ := r.http("PUT", "cas/"+d.Hash, data); code != 204 {
		t.Fatal(code)
	}
	for _, row := range []struct{ offset, limit, from, to int64 }{
		{0, 0, 0, 700_000}, {0, 1, 0, 1}, {300_000, 100_000, 300_000, 400_000}, {699_999, 0, 699_999, 700_000},
		{699_999, 50, 699_999, 700_000}, {700_000, 0, 700_000, 700_000}, {0, 700_001, 0, 700_000},
	} {
		got, err := r.read(&bytestream.ReadRequest{ResourceName: resourceOf("", d), ReadOffset: row.offset, ReadLimit: row.limit})
		if err != nil || !bytes.Equal(got, data[row.from:row.to]) {
			t.Errorf("%v: %d bytes, %v", row, len(got), err)
		}
	}
	for name, row := range map[string]struct {
		request *bytestream.ReadRequest
		code    codes.Code
	}{
		"a negative offset":   {&bytestream.ReadRequest{ResourceName: resourceOf("", d), ReadOffset: -1}, codes.OutOfRange},
		"an offset too large": {&bytestream.ReadRequest{ResourceName: resourceOf("", d), ReadOffset: 700_001}, codes.OutOfRange},
		"a negative limit":    {&bytestream.ReadRequest{ResourceName: resourceOf("", d), ReadLimit: -1}, codes.InvalidArgument},
		"another size":        {&bytestream.ReadRequest{ResourceName: "blobs/" + d.Hash + "/699999"}, codes.NotFound},
		"another instance":    {&bytestream.ReadRequest{ResourceName: resourceOf("team", d)}, codes.NotFound},
		"a zstd stream":       {&bytestream.ReadRequest{ResourceName: "compressed-blobs/zstd/" + d.Hash + "/700000"}, codes.Unimplemented},
	} {
		_, err := r.read(row.request)
		r.wants(name, err, row.code)
	}
}

func TestHostileWrites(t *testing.T) {
	r := newRig(t, files.Options{BodyMax: 300_000})
	data := enginetest.Content(2, 100_000)
	d := digestOf(data)
	name := uploadOf("", d)
	upload := func(change func([]*bytestream.WriteRequest)) []*bytestream.WriteRequest {
		list := pieces(name, data, 40_000)
		change(list)
		return list
	}
	named := func(name string) []*bytestream.WriteRequest { return pieces(name, data, 40_000) }
	sized := func(size string) []*bytestream.WriteRequest {
		return named("uploads/" + uuid + "/blobs/" + d.Hash + "/" + size)
	}
	for what, row := range map[string]struct {
		messages []*bytestream.WriteRequest
		code     codes.Code
	}{
		"nothing":                 {nil, codes.InvalidArgument},
		"no name":                 {named(""), codes.InvalidArgument},
		"an offset at first":      {upload(func(l []*bytestream.WriteRequest) { l[0].WriteOffset = 1 }), codes.InvalidArgument},
		"an offset too small":     {upload(func(l []*bytestream.WriteRequest) { l[1].WriteOffset = 39_999 }), codes.InvalidArgument},
		"a negative offset":       {upload(func(l []*bytestream.WriteRequest) { l[2].WriteOffset = -1 }), codes.InvalidArgument},
		"another name":            {upload(func(l []*bytestream.WriteRequest) { l[1].ResourceName = "x" }), codes.InvalidArgument},
		"no end":                  {upload(func(l []*bytestream.WriteRequest) { l[2].FinishWrite = false }), codes.InvalidArgument},
		"an early end":            {upload(func(l []*bytestream.WriteRequest) { l[1].FinishWrite = true }), codes.InvalidArgument},
		"another byte":            {upload(func(l []*bytestream.WriteRequest) { l[1].Data = append([]byte{l[1].Data[0] + 1}, l[1].Data[1:]...) }), codes.InvalidArgument},
		"more data":               {upload(func(l []*bytestream.WriteRequest) { l[2].Data = append([]byte{0}, l[2].Data...) }), codes.InvalidArgument},
		"a smaller size":          {sized("99999"), codes.InvalidArgument},
		"a larger size":           {sized("100001"), codes.InvalidArgument},
		"a size of 0":             {sized("0"), codes.InvalidArgument},
		"a negative size":         {sized("-1"), codes.InvalidArgument},
		"a size beyond int64":     {sized("9223372036854775808"), codes.InvalidArgument},
		"a huge size":             {sized("9223372036854775807"), codes.ResourceExhausted},
		"a size above the limit":  {sized("300001"), codes.ResourceExhausted},
		"dots":                    {named(uploadOf("../x", d)), codes.InvalidArgument},
		"dots in the middle":      {named(uploadOf("a/../b", d)), codes.InvalidArgument},
		"a slash":                 {named("/" + name), codes.InvalidArgument},
		"two slashes":             {named(uploadOf("a//b", d)), codes.InvalidArgument},
		"a control character":     {named(uploadOf("a\nb", d)), codes.InvalidArgument},
		"a long instance":         {named(uploadOf(strings.Repeat("a", 1000), d)), codes.InvalidArgument},
		"a very long instance":    {named(uploadOf(strings.Repeat("a", 100_000), d)), codes.InvalidArgument},
		"a reserved word":         {named(uploadOf("a/actions", d)), codes.InvalidArgument},
		"capitals":                {named("uploads/" + uuid + "/blobs/" + strings.ToUpper(d.Hash) + "/100000"), codes.InvalidArgument},
		"a short hash":            {named("uploads/" + uuid + "/blobs/" + d.Hash[:62] + "/100000"), codes.InvalidArgument},
		"a long hash":             {named("uploads/" + uuid + "/blobs/" + d.Hash + "00/100000"), codes.InvalidArgument},
		"a file instead of hash":  {named("uploads/" + uuid + "/blobs/..%2f/100000"), codes.InvalidArgument},
		"zstd":                    {named("uploads/" + uuid + "/compressed-blobs/zstd/" + d.Hash + "/100000"), codes.Unimplemented},
		"a download":              {named(resourceOf("", d)), codes.InvalidArgument},
		"no size":                 {named("uploads/" + uuid + "/blobs/" + d.Hash), codes.InvalidArgument},
		"no hash":                 {named("uploads/" + uuid + "/blobs"), codes.InvalidArgument},
		"only a word":             {named("uploads"), codes.InvalidArgument},
		"metadata without a hash": {named("uploads/a/b/c/d/e"), codes.InvalidArgument},
	} {
		_, err := r.write(row.messages...)
		r.wants(what, err, row.code)
	}
	state, err := r.bytes.QueryWriteStatus(t.Context(), &bytestream.QueryWriteStatusRequest{ResourceName: name})
	if err != nil || state.Complete || state.CommittedSize != 0 {
		t.Error(state, err)
	}
	if code, list := r.http("GET", "", nil); code != 200 || !bytes.Contains(list, []byte(`"files":[]`)) {
		t.Errorf("files are here: %d, %s", code, list)
	}
}

func TestBatches(t *testing.T) {
	r := newRig(t, files.Options{})
	var update repb.BatchUpdateBlobsRequest
	var query repb.BatchReadBlobsRequest
	for i := range 300 {
		data := enginetest.Content(i, 10*i)
		update.Requests = append(update.Requests, &repb.BatchUpdateBlobsRequest_Request{Digest: digestOf(data), Data: data})
		query.Digests = append(query.Digests, digestOf(data))
	}
	wrong := digestOf([]byte("x"))
	update.Requests = append(update.Requests,
		&repb.BatchUpdateBlobsRequest_Request{Digest: wrong, Data: []byte("y")},
		&repb.BatchUpdateBlobsRequest_Request{Digest: &repb.Digest{Hash: wrong.Hash, SizeBytes: 2}, Data: []byte("x")},
		&repb.BatchUpdateBlobsRequest_Request{Digest: &repb.Digest{Hash: "../" + wrong.Hash[3:], SizeBytes: 1}, Data: []byte("x")},
		&repb.BatchUpdateBlobsRequest_Request{Data: []byte("x")},
		&repb.BatchUpdateBlobsRequest_Request{Digest: wrong, Data: []byte("x"), Compressor: repb.Compressor_ZSTD},
	)
	query.Digests = append(query.Digests, wrong, &repb.Digest{Hash: wrong.Hash, SizeBytes: -5}, nil)
	updated, err := r.cas.BatchUpdateBlobs(t.Context(), &update)
	r.must(err)
	for i, one := range updated.Responses {
		want := codes.OK
		if i >= 300 {
			want = codes.InvalidArgument
		}
		if codes.Code(one.Status.Code) != want || one.Digest.GetHash() != update.Requests[i].Digest.GetHash() {
			t.Errorf("%d: %v", i, one)
		}
	}
	found, err := r.cas.BatchReadBlobs(t.Context(), &query)
	r.must(err)
	for i, one := range found.Responses {
		switch {
		case i < 300 && (one.Status.Code != 0 || !bytes.Equal(one.Data, update.Requests[i].Data)):
			t.Errorf("%d: %d bytes, %v", i, len(one.Data), one.Status)
		case i >= 300 && codes.Code(one.Status.Code) != []codes.Code{codes.NotFound, codes.InvalidArgument, codes.InvalidArgument}[i-300]:
			t.Errorf("%d: %v", i, one)
		}
	}
}

// Limits are those that the capabilities state. Larger requests are refused before they take memory.
func TestLimits(t *testing.T) {
	r := newRig(t, files.Options{})
	data := enginetest.Content(1, 1<<20+1)
	_, err := r.cas.BatchUpdateBlobs(t.Context(), &repb.BatchUpdateBlobsRequest{Requests: []*repb.BatchUpdateBlobsRequest_Request{{Digest: digestOf(data), Data: data}}})
	r.wants("a batch of more than 1 MiB", err, codes.InvalidArgument)
	r.put("", data[:1<<20])
	_, err = r.cas.BatchReadBlobs(t.Context(), &repb.BatchReadBlobsRequest{Digests: []*repb.Digest{digestOf(data[:1<<20]), digestOf(data[:1])}})
	r.wants("reading more than 1 MiB", err, codes.InvalidArgument)
	huge := &repb.Digest{Hash: digestOf(data).Hash, SizeBytes: 1<<63 - 1}
	_, err = r.cas.BatchReadBlobs(t.Context(), &repb.BatchReadBlobsRequest{Digests: []*repb.Digest{huge, huge, huge}})
	r.wants("sizes that overflow", err, codes.InvalidArgument)
	_, err = r.cas.FindMissingBlobs(t.Context(), &repb.FindMissingBlobsRequest{DigestFunction: repb.DigestFunction_BLAKE3})
	r.wants("another digest function", err, codes.InvalidArgument)
	_, err = r.cas.FindMissingBlobs(t.Context(), &repb.FindMissingBlobsRequest{InstanceName: "../x"})
	r.wants("a hostile instance", err, codes.InvalidArgument)

	if got := r.missing("", slices.Repeat([]*repb.Digest{digestOf([]byte("x"))}, 15_000)...); got != 15_000 {
		t.Errorf("%d of 15,000 missing", got)
	}
	// The test encodes these messages itself. gRPC sends its headers first, and with a million digests the
	// server would no longer wait.
	digests := func(n int, d *repb.Digest) string {
		one, err := proto.Marshal(d)
		r.must(err)
		return strings.Repeat("\x12"+string(rune(len(one)))+string(one), n)
	}
	upload, err := proto.Marshal(&bytestream.WriteRequest{ResourceName: uploadOf("", digestOf(data)), Data: make([]byte, 10<<20), FinishWrite: true})
	r.must(err)
	for what, row := range map[string]struct {
		path, body string
		compressed bool
		want       string
	}{
		// The first two would take 64 times the memory of the message.
		"empty digests":                           {findMissing, digests(5000, &repb.Digest{}), false, "3 unmarshal message: the message has too many elements"},
		"many empty digests":                      {findMissing, digests(1_000_000, &repb.Digest{}), false, "3 unmarshal message: the message has too many elements"},
		"more than 2 MiB of digests":              {findMissing, digests(50_000, digestOf(data)), false, "8 "},
		"a compressed message that becomes large": {findMissing, digests(100_000, digestOf(data)), true, "8 a message is larger than 2097152 bytes when it is decompressed"},
		"a compressed upload that becomes large":  {streamWrite, string(upload), true, "3 "},
	} {
		message, headers := announce(uint32(len(row.body)), row.body), []string{}
		if row.compressed {
			message, headers = r.compressed(row.body), []string{"Grpc-Encoding", "gzip"}
		}
		if got, err := r.raw(t.Context(), row.path, strings.NewReader(message), headers...); err != nil || !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: %q, %v, want %s", what, got, err, row.want)
		}
	}
}
