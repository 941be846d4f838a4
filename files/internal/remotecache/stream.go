package remotecache

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/bytestream"
)

func (b blobs) read(ctx context.Context, r *bytestream.ReadRequest, stream *connect.ServerStream[bytestream.ReadResponse]) error {
	at, d, err := parseResource(r.GetResourceName(), false)
	if err != nil {
		return err
	}
	offset, limit := r.GetReadOffset(), r.GetReadLimit()
	switch {
	case offset < 0 || offset > d.size:
		return refuse(connect.CodeOutOfRange, "offset %d is outside of the content of %d bytes", offset, d.size)
	case limit < 0:
		return invalid("limit %d is negative: 0 is no limit", limit)
	case limit == 0:
		limit = d.size
	}
	if d == empty {
		return nil
	}
	f, err := b.open(ctx, at, d)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.CopyTo(ctx, &pieceWriter{stream: stream}, offset, min(limit, d.size-offset))
}

// pieceWriter sends the data written to it in pieces.
type pieceWriter struct {
	stream *connect.ServerStream[bytestream.ReadResponse]
	answer bytestream.ReadResponse
}

func (w *pieceWriter) Write(data []byte) (written int, err error) {
	for written < len(data) {
		w.answer.Data = data[written:min(written+pieceMax, len(data))]
		if err := w.stream.Send(&w.answer); err != nil {
			return written, err
		}
		written += len(w.answer.Data)
	}
	return written, nil
}

// writeStatus answers how much of a content is here: all or nothing. A broken upload begins
// again.
func (b blobs) writeStatus(ctx context.Context, r *bytestream.QueryWriteStatusRequest) (*bytestream.QueryWriteStatusResponse, error) {
	at, d, err := parseResource(r.GetResourceName(), true)
	if err != nil {
		return nil, err
	}
	here, err := b.has(ctx, at, d)
	if err != nil || !here {
		return &bytestream.QueryWriteStatusResponse{}, err
	}
	return &bytestream.QueryWriteStatusResponse{CommittedSize: d.size, Complete: true}, nil
}
