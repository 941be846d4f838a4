// Package buckettest has object stores for tests. Server is a small one in memory, with faults. It obeys
// S3's conditions, and does not check signatures. Run starts one of others, such as versitygw.
//
// Only tests may import the package.
package buckettest

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bucket is the bucket of every server.
const Bucket = "kept"

// A Server is an object store. Set its fields before requests are sent to it.
type Server struct {
	URL string

	// IgnorePut, IgnoreParts and IgnoreDelete are for stores that ignore the conditions of a kind
	// of change.
	IgnorePut, IgnoreParts, IgnoreDelete bool

	// Fault is called before a request. It answers those that shall fail, and returns true.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	// Lose reports whether the answer of an executed request shall get lost.
	Lose func(r *http.Request) bool

	mu      sync.Mutex
	objects map[string]object
	uploads map[string]map[int][]byte
	begun   map[string]http.Header // by upload
	count   int
}

type object struct {
	data    []byte
	tag     string
	changed time.Time
	header  http.Header
}

// Start starts a server.
func Start(t testing.TB) *Server {
	s := New()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// New returns a server without an address.
func New() *Server {
	return &Server{objects: map[string]object{}, uploads: map[string]map[int][]byte{}, begun: map[string]http.Header{}}
}

// Variables returns the variables that the client of object stores needs.
func Variables() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secretsecret", "AWS_EC2_METADATA_DISABLED": "true"}
}

// Setenv sets Variables for a test.
func Setenv(t *testing.T) {
	for name, value := range Variables() {
		t.Setenv(name, value)
	}
}

// Keys returns the names of all objects, in order.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Uploads returns the number of uploads that were neither completed nor aborted.
func (s *Server) Uploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	if s.Lose != nil && s.Lose(r) {
		s.serve(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	s.serve(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if strings.HasPrefix(r.Host, Bucket+".") {
		path = Bucket + "/" + path
	}
	if strings.Contains(r.Header.Get("Authorization"), "Credential=unknown/") { // tests of credentials have keys of their own
		fail(w, http.StatusForbidden, "InvalidAccessKeyId")
		return
	}
	bucket, key, _ := strings.Cut(path, "/")
	if bucket != Bucket {
		fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	data, err := body(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	if key != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		s.get(w, r, key)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	switch id := q.Get("uploadId"); {
	case key == "":
		s.list(w, q)
	case r.Method == http.MethodPost && q.Has("uploads"):
		s.count++
		id := strconv.Itoa(s.count)
		s.uploads[id], s.begun[id] = map[int][]byte{}, r.Header
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><Bucket>%s</Bucket><UploadId>%s</UploadId></InitiateMultipartUploadResult>", Bucket, id)
	case id != "" && s.uploads[id] == nil:
		fail(w, http.StatusNotFound, "NoSuchUpload")
	case id != "":
		s.upload(w, r, key, id, data)
	default:
		s.change(w, r, key, data)
	}
}

func (s *Server) change(w http.ResponseWriter, r *http.Request, key string, data []byte) {
	switch {
	case r.Method == http.MethodPut:
		if s.allows(w, r, key, s.IgnorePut) {
			s.put(key, data, tagOf(data), r.Header)
			w.Header().Set("ETag", `"`+tagOf(data)+`"`)
		}
	case r.Method == http.MethodDelete:
		if s.allows(w, r, key, s.IgnoreDelete) {
			delete(s.objects, key)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		fail(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// get sends an object. A client that reads slowly holds up nobody else: the lock is not held meanwhile.
func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	s.mu.Lock()
	o, exists := s.objects[key]
	s.mu.Unlock()
	switch {
	case !exists:
		fail(w, http.StatusNotFound, "NoSuchKey")
	case r.Header.Get("Range") != "" && len(o.data) == 0:
		fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
	default:
		for name, values := range o.header {
			if strings.HasPrefix(name, "X-Amz-Meta-") {
				w.Header()[name] = values
			}
		}
		w.Header().Set("ETag", `"`+o.tag+`"`)
		http.ServeContent(w, r, "", o.changed, bytes.NewReader(o.data))
	}
}

func (s *Server) put(key string, data []byte, tag string, header http.Header) {
	s.objects[key] = object{data, tag, time.Now(), header}
}

// allows evaluates the conditions of a change, and refuses the request if they do not hold.
func (s *Server) allows(w http.ResponseWriter, r *http.Request, key string, ignore bool) bool {
	if ignore {
		return true
	}
	o, exists := s.objects[key]
	match := r.Header.Get("If-Match")
	switch {
	case match != "" && !exists:
		fail(w, http.StatusNotFound, "NoSuchKey") // as Amazon's
	case match != "" && match != `"`+o.tag+`"`, r.Header.Get("If-None-Match") == "*" && exists:
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
	default:
		return true
	}
	return false
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request, key, id string, data []byte) {
	parts := s.uploads[id]
	switch r.Method {
	case http.MethodPut:
		number, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
		parts[number] = data
		w.Header().Set("ETag", `"`+tagOf(data)+`"`)
	case http.MethodDelete:
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	default:
		if !s.allows(w, r, key, s.IgnoreParts) {
			return
		}
		var whole []byte
		for _, number := range slices.Sorted(maps.Keys(parts)) {
			whole = append(whole, parts[number]...)
		}
		tag := fmt.Sprintf("%s-%d", tagOf(whole), len(parts))
		s.put(key, whole, tag, s.begun[id])
		delete(s.uploads, id)
		fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>%s</Bucket><Key>x</Key><ETag>&#34;%s&#34;</ETag></CompleteMultipartUploadResult>", Bucket, tag)
	}
}

type listed struct {
	Key          string
	LastModified time.Time
	ETag         string
	Size         int
}

type listing struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	EncodingType          string
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	Contents              []listed
}

func (s *Server) list(w http.ResponseWriter, q url.Values) {
	most, err := strconv.Atoi(q.Get("max-keys"))
	if err != nil {
		most = 1000
	}
	after := max(q.Get("start-after"), q.Get("continuation-token"))
	l := listing{EncodingType: "url"}
	last := ""
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if key <= after || !strings.HasPrefix(key, q.Get("prefix")) {
			continue
		}
		if len(l.Contents) == most {
			l.IsTruncated, l.NextContinuationToken = true, last
			break
		}
		o := s.objects[key]
		l.Contents = append(l.Contents, listed{url.QueryEscape(key), o.changed.UTC(), `"` + o.tag + `"`, len(o.data)})
		last = key
	}
	_ = xml.NewEncoder(w).Encode(l)
}

func tagOf(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// body reads a request's body. A client without TLS sends it in signed pieces.
func body(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var data []byte
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, err := strconv.ParseInt(strings.Split(line, ";")[0], 16, 32)
		if err != nil || size == 0 {
			return data, err
		}
		piece := make([]byte, size+2)
		if _, err := io.ReadFull(in, piece); err != nil {
			return nil, err
		}
		data = append(data, piece[:size]...)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}
