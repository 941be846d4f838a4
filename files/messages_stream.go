package files

import (
	"context"
	"io"
	"net/http"
	"slices"

	"connectrpc.com/connect"

	"muster/files/internal/wire"
)

func (m *messages) Upload(ctx context.Context, stream *connect.ClientStream[wire.UploadRequest]) (*connect.Response[wire.UploadResponse], error) {
	answer, err := m.upload(ctx, stream)
	if err != nil {
		return nil, m.answerError(wire.FilesUploadProcedure, err)
	}
	return connect.NewResponse(answer), nil
}

func (m *messages) upload(ctx context.Context, stream *connect.ClientStream[wire.UploadRequest]) (*wire.UploadResponse, error) {
	if !stream.Receive() {
		if err := stream.Err(); err != nil {
			return nil, err
		}
		return nil, errNoName
	}
	first := stream.Msg()
	if first.Name == "" {
		return nil, errNoName
	}
	size := int64(-1)
	if first.Size != nil && *first.Size >= 0 {
		size = *first.Size
	}
	most := m.server.options.BodyMax
	if size > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	r := &uploadReader{stream: stream, most: most, left: most}
	if err := r.accept(first.Data); err != nil {
		return nil, err
	}
	info, err := m.server.store.Put(ctx, first.Name, limitReads(r, m.page), size, nil)
	if err != nil {
		return nil, err
	}
	return &wire.UploadResponse{Size: info.Size, Etag: etag(info.Tag)}, nil
}

// uploadReader reads a file from the messages of an upload.
type uploadReader struct {
	stream *connect.ClientStream[wire.UploadRequest]
	data   []byte // of the last message, unread
	most   int64  // how many bytes the file may have
	left   int64  // how many of them may follow
}

func (u *uploadReader) accept(data []byte) error {
	if u.data, u.left = data, u.left-int64(len(data)); u.left < 0 {
		return &http.MaxBytesError{Limit: u.most}
	}
	return nil
}

func (u *uploadReader) Read(p []byte) (int, error) {
	for len(u.data) == 0 {
		if !u.stream.Receive() {
			if err := u.stream.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		message := u.stream.Msg()
		if message.Name != "" || message.Size != nil {
			return 0, errTwoNames
		}
		if err := u.accept(message.Data); err != nil {
			return 0, err
		}
	}
	n := copy(p, u.data)
	u.data = u.data[n:]
	return n, nil
}

func (m *messages) Download(ctx context.Context, r *connect.Request[wire.DownloadRequest], stream *connect.ServerStream[wire.DownloadResponse]) error {
	if err := m.download(ctx, r.Msg.Name, stream); err != nil {
		return m.answerError(wire.FilesDownloadProcedure, err)
	}
	return nil
}

func (m *messages) download(ctx context.Context, name string, stream *connect.ServerStream[wire.DownloadResponse]) error {
	f, err := m.server.store.Get(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	d := &downloadWriter{stream: stream, page: m.page}
	d.message.Size, d.message.Etag = f.Size, etag(f.Tag)
	if f.Size == 0 {
		return d.send(nil)
	}
	return f.CopyTo(ctx, d, 0, f.Size)
}

// downloadWriter sends the data written to it in pages.
type downloadWriter struct {
	stream  *connect.ServerStream[wire.DownloadResponse]
	page    int
	message wire.DownloadResponse
}

func (d *downloadWriter) Write(data []byte) (int, error) {
	for page := range slices.Chunk(data, d.page) {
		if err := d.send(page); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

// send has sent or copied the page when it returns.
func (d *downloadWriter) send(page []byte) error {
	d.message.Data = page
	err := d.stream.Send(&d.message)
	d.message.Size, d.message.Etag, d.message.Data = 0, "", nil
	return err
}
