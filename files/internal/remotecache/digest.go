package remotecache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/fileio"
)

// A digest identifies a content by its SHA-256 and its size in bytes.
type digest struct {
	hash [sha256.Size]byte
	size int64
}

// empty is the digest of the content without bytes. It always exists.
var empty = digest{hash: sha256.Sum256(nil)}

func digestOf(data []byte) digest { return digest{sha256.Sum256(data), int64(len(data))} }

func (d digest) String() string { return hex.EncodeToString(d.hash[:]) }

// parseDigest refuses everything but a SHA-256 in small letters with a possible size.
func parseDigest(m *repb.Digest) (d digest, err error) {
	hash := m.GetHash()
	n, err := hex.Decode(d.hash[:], []byte(hash[:min(len(hash), 2*sha256.Size)]))
	d.size = m.GetSizeBytes()
	isHash := err == nil && n == sha256.Size && len(hash) == 2*sha256.Size && strings.ToLower(hash) == hash
	if !isHash || d.size < 0 || (d.size == 0) != (d.hash == empty.hash) {
		return d, errNoDigest
	}
	return d, nil
}

var errNoDigest = invalid("this is not the digest of a content: 64 small hexadecimal digits of SHA-256 and the size in bytes are wanted")

// checkFunction refuses requests with other digests than SHA-256.
func checkFunction(f repb.DigestFunction_Value) error {
	if f != repb.DigestFunction_UNKNOWN && f != repb.DigestFunction_SHA256 {
		return invalid("digest function %v is not supported: use SHA256", f)
	}
	return nil
}

// A refusal is an error with the code of the answer.
type refusal struct {
	error
	code connect.Code
}

func refuse(code connect.Code, format string, arguments ...any) error {
	return &refusal{fmt.Errorf(format, arguments...), code}
}

// Unwrap is for package errors.
func (r *refusal) Unwrap() error { return r.error }

func invalid(format string, arguments ...any) error {
	return refuse(connect.CodeInvalidArgument, format, arguments...)
}

// An instance is a prefix of names, in which clients have a cache of their own.
type instance string

// reserved are words that no part of an instance can be, because resources have them.
var reserved = []string{"blobs", "uploads", "actions", "actionResults", "operations", "capabilities", "compressed-blobs"}

// checkInstance refuses names of instances that clients must not use, or that no file can have.
func checkInstance(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if slices.Contains(reserved, part) {
			return invalid("instance %.80q: no part of it can be %q", name, part)
		}
	}
	if err := fileio.CheckName(instance(name).content(empty)); err != nil {
		return invalid("instance %.80q: its contents could not be stored: %w", name, err)
	}
	return nil
}

// content returns the name of a content's file.
func (i instance) content(d digest) string { return i.file("cas", d) }

// result returns the name of the file with an action's result.
func (i instance) result(action digest) string { return i.file("ac", action) }

func (i instance) file(kind string, d digest) string {
	name := kind + "/" + d.String()
	if i != "" {
		name = string(i) + "/" + name
	}
	return name
}

// parseResource parses the name of a resource of ByteStream: INSTANCE/blobs/HASH/SIZE, or for an
// upload INSTANCE/uploads/UUID/blobs/HASH/SIZE, which metadata may follow.
func parseResource(name string, upload bool) (at instance, d digest, err error) {
	wrong := invalid("%.200q is not a resource: INSTANCE/blobs/HASH/SIZE is wanted, or for an upload INSTANCE/uploads/UUID/blobs/HASH/SIZE", name)
	if len(name) > resourceMax {
		return "", d, wrong
	}
	parts := strings.Split(name, "/")
	begin := slices.IndexFunc(parts, func(part string) bool { return slices.Contains(reserved, part) })
	if begin < 0 || begin == 1 && parts[0] == "" {
		return "", d, wrong
	}
	at, parts = instance(strings.Join(parts[:begin], "/")), parts[begin:]
	if upload {
		if len(parts) < 3 || parts[0] != "uploads" {
			return "", d, wrong
		}
		parts = parts[2:]
	}
	switch {
	case parts[0] == "compressed-blobs":
		return "", d, refuse(connect.CodeUnimplemented, "this server has no compressed contents, as its capabilities say")
	case parts[0] != "blobs" || len(parts) < 3 || len(parts) > 3 && !upload:
		return "", d, wrong
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return "", d, wrong
	}
	if err := checkInstance(string(at)); err != nil {
		return "", d, err
	}
	d, err = parseDigest(&repb.Digest{Hash: parts[1], SizeBytes: size})
	return at, d, err
}

// resourceMax is the longest name of a resource, in bytes.
const resourceMax = 4 << 10

// parseRequest parses what most requests have: an instance, and one digest.
func parseRequest(name string, m *repb.Digest, f repb.DigestFunction_Value) (at instance, d digest, err error) {
	if err := errors.Join(checkInstance(name), checkFunction(f)); err != nil {
		return "", d, err
	}
	d, err = parseDigest(m)
	return instance(name), d, err
}
