package reapitest

import (
	"io"
	"strconv"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// resource parses "[INSTANCE/][uploads/UUID/]blobs/HASH/SIZE", or the form with
// "compressed-blobs/zstd".
func resource(name string) (d Digest, packed bool, err error) {
	words := strings.Split(name, "/")
	if len(words) < 3 {
		return d, false, status.Errorf(codes.InvalidArgument, "resource %q", name)
	}
	size, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		return d, false, status.Errorf(codes.InvalidArgument, "resource %q", name)
	}
	d, err = digestOf(&repb.Digest{Hash: words[len(words)-2], SizeBytes: size})
	return d, strings.Contains("/"+name, "/compressed-blobs/zstd/"), err
}

// Write implements the API. Data that came before a break stays for the next stream.
func (e *Engine) Write(s bytestream.ByteStream_WriteServer) error {
	name, finished := "", false
	for !finished {
		req, err := s.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if name == "" {
			name = req.GetResourceName()
		}
		// another client may have sent it, even since the last message
		if d, packed, err := resource(name); err != nil {
			return err
		} else if _, ok := e.Get(d); ok {
			return s.SendAndClose(&bytestream.WriteResponse{CommittedSize: there(d, packed)})
		}
		if err := e.extend(name, req); err != nil {
			return err
		}
		finished = req.GetFinishWrite()
	}
	if !finished {
		return status.Error(codes.InvalidArgument, "the stream ended without finish_write")
	}
	return e.finish(name, s)
}

func there(d Digest, packed bool) int64 {
	if packed {
		return -1
	}
	return d.Size
}

func (e *Engine) extend(name string, req *bytestream.WriteRequest) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if at := int64(len(e.partial[name])); req.GetWriteOffset() != at {
		return status.Errorf(codes.InvalidArgument, "offset %d, and %d bytes are here", req.GetWriteOffset(), at)
	}
	e.partial[name] = append(e.partial[name], req.GetData()...)
	return nil
}

func (e *Engine) finish(name string, s bytestream.ByteStream_WriteServer) error {
	e.mu.Lock()
	data := e.partial[name]
	delete(e.partial, name)
	e.mu.Unlock()
	d, packed, err := resource(name)
	if err == nil {
		err = e.store(d, data, packed)
	}
	if err != nil {
		return err
	}
	return s.SendAndClose(&bytestream.WriteResponse{CommittedSize: int64(len(data))})
}

// Read implements the API.
func (e *Engine) Read(req *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) error {
	d, packed, err := resource(req.GetResourceName())
	if err != nil {
		return err
	}
	data, err := e.load(d, false)
	if err != nil {
		return err
	}
	if req.GetReadOffset() > int64(len(data)) {
		return status.Error(codes.OutOfRange, "beyond the end")
	}
	data = data[req.GetReadOffset():]
	if packed {
		data = e.zip.EncodeAll(data, nil)
	}
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), 64<<10)
		if err := s.Send(&bytestream.ReadResponse{Data: data[:n]}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
