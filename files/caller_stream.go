package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"connectrpc.com/connect"

	"muster/files/internal/wire"
)

// Upload writes all bytes of r as a file and replaces an existing file of that name. size is
// the number of bytes in r, or -1 if unknown. If r fails, the previous file is unchanged.
func (c *Caller) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := c.client.Upload(ctx)
	c.authorize(stream.RequestHeader())
	sent, err := c.send(stream, &wire.UploadRequest{Name: name, Size: &size}, r)
	if err != nil {
		cancel()
		_, _ = stream.CloseAndReceive() // releases the connection
		return callError("upload", name, err)
	}
	answer, err := stream.CloseAndReceive()
	if err == nil && answer.Msg.Size != sent {
		err = fmt.Errorf("%d bytes were sent, but the server stored %d", sent, answer.Msg.Size)
	}
	return callError("upload", name, err)
}

// send sends the content of r and returns the number of bytes. It ends early, without an
// error, if the server answers early. Its buffer goes back to the pool before the answer
// comes.
func (c *Caller) send(stream *connect.ClientStreamForClient[wire.UploadRequest, wire.UploadResponse], message *wire.UploadRequest, r io.Reader) (sent int64, err error) {
	pooled, ok := c.pages.Get().(*[]byte)
	if !ok {
		pooled = new(make([]byte, c.page))
	}
	defer c.pages.Put(pooled)
	page := *pooled
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

// cuttingClient makes requests. If a body's length is unknown and the context ends, the body
// ends with an error: otherwise the server would take its end for the end of the file. The
// transport itself may not have noticed the context's end yet.
type cuttingClient struct{ client *http.Client }

func (c cuttingClient) Do(r *http.Request) (*http.Response, error) {
	if r.ContentLength < 0 {
		r.Body = &cutBody{r.Body, r.Context()}
	}
	return c.client.Do(r)
}

type cutBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b *cutBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.ctx.Err() != nil {
		err = b.ctx.Err()
	}
	return n, err
}

// fill reads a page, and reports whether r has ended. Unlike io.ReadFull it distinguishes the
// end of r from an error because r was cut off.
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

var errNoAnswer = errors.New("the server sent no answer about the file")

// Download writes a file to w and returns the number of bytes. After an error, w may have
// received the beginning of the file.
func (c *Caller) Download(ctx context.Context, name string, w io.Writer) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // discard the unread rest
	stream, err := c.client.Download(ctx, request(c, &wire.DownloadRequest{Name: name}))
	if err != nil {
		return 0, callError("download", name, err)
	}
	defer stream.Close()
	n, err := receive(stream, w)
	return n, callError("download", name, err)
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
		return n, fmt.Errorf("received %d bytes of %d", n, size)
	}
	return n, nil
}
