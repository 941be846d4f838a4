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

// Upload writes a file, all of what r has, and replaces one of that name. size is how many
// bytes r has, or -1 if that is not known. When r fails, what was there before is there.
func (c *Caller) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := c.client.Upload(ctx)
	c.authorize(stream.RequestHeader())
	sent, err := c.send(stream, &wire.UploadRequest{Name: name, Size: &size}, r)
	if err != nil {
		cancel()
		_, _ = stream.CloseAndReceive() // lets go of the connection
		return said("upload", name, err)
	}
	answer, err := stream.CloseAndReceive()
	if err == nil && answer.Msg.Size != sent {
		err = fmt.Errorf("%d bytes were sent, and %d taken", sent, answer.Msg.Size)
	}
	return said("upload", name, err)
}

// send sends what r has, and says how many bytes. It ends early, without an error, when the
// server answers early. What it has read into is another's before the answer comes.
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

// cutter makes requests whose body, if its length is not known, ends with an error once
// their context has ended: the server would take another end for that of the file. The
// transport, which waits for an end, may not have seen the context's before.
type cutter struct{ client *http.Client }

func (c cutter) Do(r *http.Request) (*http.Response, error) {
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
