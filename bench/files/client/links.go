package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// links returns what makes a link of the kind. Links of http and s3 share a transport, which
// keeps a connection for each.
func links(to, addr, bucket string, connections int) (func() link, error) {
	transport := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, DisableCompression: true}
	switch to {
	case "s3", "s3-whole":
		core, err := minio.NewCore(addr, &minio.Options{
			Creds:  credentials.NewStaticV4(os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), ""),
			Region: "us-east-1", Transport: transport,
		})
		return func() link { return &signed{core, bucket, to == "s3-whole"} }, err
	case "http":
		return func() link { return &plain{&http.Client{Transport: transport}, "http://" + addr + "/files/"} }, nil
	case "raw":
		return func() link { return &raw{addr: addr} }, nil
	}
	return nil, fmt.Errorf("-to %s: s3, s3-whole, http and raw are possible", to)
}

// signed makes the requests that muster serve makes of an object store.
type signed struct {
	core   *minio.Core
	bucket string
	whole  bool // signs a body by one digest, and not in pieces as minio-go does by itself
}

func (s *signed) put(ctx context.Context, name string, data []byte) error {
	o := minio.PutObjectOptions{UserMetadata: map[string]string{"Muster-Write": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, DisableContentSha256: s.whole}
	digest := ""
	if s.whole {
		digest = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	_, err := s.core.PutObject(ctx, s.bucket, name, bytes.NewReader(data), int64(len(data)), "", digest, o)
	return err
}

func (s *signed) get(ctx context.Context, name string, buffer []byte) error {
	o := minio.GetObjectOptions{}
	o.Set("Range", "bytes=0-262143")
	body, _, _, err := s.core.GetObject(ctx, s.bucket, name, o)
	if err != nil {
		return err
	}
	defer body.Close()
	return readAll(body, buffer)
}

// readAll reads a body that fills the buffer.
func readAll(body io.Reader, buffer []byte) error {
	if _, err := io.ReadFull(body, buffer); err != nil {
		return err
	}
	var more [1]byte
	if n, err := body.Read(more[:]); n > 0 || err != io.EOF {
		return fmt.Errorf("more than %d bytes: %w", len(buffer), err)
	}
	return nil
}

// plain makes the same requests of a file service, as a program with net/http does.
type plain struct {
	client *http.Client
	url    string
}

func (p *plain) put(ctx context.Context, name string, data []byte) error {
	return p.do(ctx, http.MethodPut, name, bytes.NewReader(data), http.StatusNoContent, nil)
}

func (p *plain) get(ctx context.Context, name string, buffer []byte) error {
	return p.do(ctx, http.MethodGet, name, nil, http.StatusOK, buffer)
}

func (p *plain) do(ctx context.Context, method, name string, body io.Reader, want int, buffer []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, p.url+name, body)
	if err != nil {
		return err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != want {
		return fmt.Errorf("the answer is %s", answer.Status)
	}
	return readAll(answer.Body, buffer)
}

// raw takes as little of the processors as it can, for servers that need them all. It knows
// answers with a length alone.
type raw struct {
	addr string
	conn net.Conn
	in   *bufio.Reader
	head []byte
}

func (r *raw) put(_ context.Context, name string, data []byte) error {
	r.head = fmt.Appendf(r.head[:0], "PUT /files/%s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", name, r.addr, len(data))
	return r.exchange(append(r.head, data...), 204, nil)
}

func (r *raw) get(_ context.Context, name string, buffer []byte) error {
	r.head = append(append(append(r.head[:0], "GET /files/"...), name...), " HTTP/1.1\r\nHost: "...)
	return r.exchange(append(append(r.head, r.addr...), "\r\n\r\n"...), 200, buffer)
}

func (r *raw) exchange(request []byte, want int, buffer []byte) (err error) {
	if r.conn == nil {
		if r.conn, err = net.Dial("tcp", r.addr); err != nil {
			return err
		}
		r.in = bufio.NewReaderSize(r.conn, 64<<10)
	}
	defer func() {
		if err != nil {
			_ = r.conn.Close() // what follows is not known
			r.conn = nil
		}
	}()
	if _, err := r.conn.Write(request); err != nil {
		return err
	}
	size := 0
	for first := true; ; first = false {
		line, err := r.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if first && !bytes.HasPrefix(line, fmt.Appendf(nil, "HTTP/1.1 %d ", want)) {
			return fmt.Errorf("the answer is %q", line)
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if size, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	if size != len(buffer) {
		return fmt.Errorf("%d bytes instead of %d", size, len(buffer))
	}
	_, err = io.ReadFull(r.in, buffer)
	return err
}
