package bucket

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// partSize is the size of a part of a large file. A file up to this size is one request.
	partSize = 8 << 20
	partsMax = 10_000 // in S3
	abortMax = 30 * time.Second
)

// An upload is a file that is written in parts. The file exists once the upload is complete.
type upload struct {
	*remote
	key   string
	id    string
	parts []minio.CompletePart
}

func (u *upload) begin(ctx context.Context, write string) error {
	id, err := u.client.NewMultipartUpload(ctx, u.bucket, u.key, condition{}.options(write))
	if err == nil && id == "" {
		err = broken("an upload without a name")
	}
	u.id = id
	return err
}

func (u *upload) add(ctx context.Context, data []byte) error {
	number := len(u.parts) + 1
	if number > partsMax {
		return fmt.Errorf("the file is too large: files in a bucket have at most %d parts of %d MiB", partsMax, partSize>>20)
	}
	digest := u.signedDigest(data)
	o := minio.PutObjectPartOptions{Sha256Hex: digest, DisableContentSha256: digest != ""}
	part, err := u.client.PutObjectPart(ctx, u.bucket, u.key, u.id, number, bytes.NewReader(data), int64(len(data)), o)
	if err == nil && part.ETag == "" {
		err = errNoTag
	}
	if err == nil {
		u.parts = append(u.parts, minio.CompletePart{PartNumber: number, ETag: part.ETag})
	}
	return err
}

func (u *upload) complete(ctx context.Context, want condition) (tag string, err error) {
	done, err := u.client.CompleteMultipartUpload(ctx, u.bucket, u.key, u.id, u.parts, want.options(""))
	return done.ETag, err
}

// abort removes the parts, even if the client has gone.
func (u *upload) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortMax)
	defer cancel()
	err := u.client.AbortMultipartUpload(ctx, u.bucket, u.key, u.id)
	if minio.ToErrorResponse(err).Code == minio.NoSuchUpload {
		return nil
	}
	return err
}
