package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"connectrpc.com/connect"

	"muster/files/internal/wire"
)

// Upload writes a file, all of what r has, and replaces one of that name. size is how many
// bytes r has, or -1 if that is not known. When r fails, what was there before is there.
func (c *Caller) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	// Whatever ends this early must cut the request off: the server would take its end for
	// that of the file.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	page, ok := c.pages.Get().(*[]byte)
	if !ok {
		page = new(make([]byte, c.page))
	}
	defer c.pages.Put(page)
	stream := c.client.Upload(ctx)
	c.authorize(stream.RequestHeader())
	message := &wire.UploadRequest{Name: name, Size: &size}
	sent, err := send(stream, message, r, *page)
	if err != nil {
		return said("upload", name, err)
	}
	answer, err := stream.CloseAndReceive()
	if err == nil && answer.Msg.Size != sent {
		err = fmt.Errorf("%d bytes were sent, and %d taken", sent, answer.Msg.Size)
	}
	return said("upload", name, err)
}

// send sends what r has, and says how many bytes. It ends early, without an error, when the
// server answers early.
func send(stream *connect.ClientStreamForClient[wire.UploadRequest, wire.UploadResponse], message *wire.UploadRequest, r io.Reader, page []byte) (sent int64, err error) {
	for {
		n, last, err := fill(r, page)
		if err != nil {
			return sent, err
		}
		if n == 0 && message.Name == "" {
			return sent, nil
		}
		message.Data = page[:n]
		if err := stream.Send(message); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return sent, err
		}
		sent += int64(n)
		if last {
			return sent, nil
		}
		message.Name, message.Size = "", nil
	}
}

// fill reads a page, and reports whether r has no more. An r that was cut off has failed,
// which io.ReadFull would not tell from its end.
func fill(r io.Reader, page []byte) (n int, last bool, err error) {
	for n < len(page) {
		more, err := r.Read(page[n:])
		n += more
		if err == io.EOF {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

var errNoAnswer = errors.New("the server said nothing of the file")

// Download writes a file to w, and says how many bytes that were. After an error w has the
// beginning of the file, or nothing.
func (c *Caller) Download(ctx context.Context, name string, w io.Writer) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what is not read
	stream, err := c.client.Download(ctx, request(c, &wire.DownloadRequest{Name: name}))
	if err != nil {
		return 0, said("download", name, err)
	}
	defer stream.Close()
	n, err := receive(stream, w)
	return n, said("download", name, err)
}

func receive(stream *connect.ServerStreamForClient[wire.DownloadResponse], w io.Writer) (n int64, err error) {
	size := int64(-1)
	for stream.Receive() {
		message := stream.Msg()
		if size < 0 {
			size = message.Size
		}
		if _, err := w.Write(message.Data); err != nil {
			return n, err
		}
		n += int64(len(message.Data))
	}
	switch err := stream.Err(); {
	case err != nil:
		return n, err
	case size < 0:
		return n, errNoAnswer
	case n != size:
		return n, fmt.Errorf("%d bytes came of %d", n, size)
	}
	return n, nil
}
