package bucket

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// ParseAddress returns the bucket and the prefix of an address s3://BUCKET/PREFIX. ok is false
// if this is another kind of name.
func ParseAddress(address string) (bucket, prefix string, ok bool, err error) {
	rest, ok := strings.CutPrefix(address, "s3://")
	if !ok {
		return "", "", false, nil
	}
	bucket, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	switch {
	case bucket == "" || strings.ContainsAny(bucket, "?#@:"):
		return "", "", true, fmt.Errorf("s3://%s has no bucket: use s3://BUCKET/PREFIX", afterUser(rest))
	case prefix != "" && checkName(prefix) != nil:
		return "", "", true, fmt.Errorf("%s: the prefix is not possible: %w", address, checkName(prefix))
	}
	return bucket, prefix, true, nil
}

// afterUser returns an address without its user and password, which no error may show.
func afterUser(address string) string { return address[strings.LastIndex(address, "@")+1:] }

const (
	amazon = "https://s3.amazonaws.com"
	// regionDefault is the region that most other object stores expect.
	regionDefault = "us-east-1"

	dialMax    = 10 * time.Second
	answerMax  = 30 * time.Second
	idleMax    = 30 * time.Second
	headersMax = 256 << 10 // of an answer
)

// connect returns a bucket at its object store. It sends no request.
func connect(endpoint, bucket, prefix string) (*remote, error) {
	r := &remote{peer: peer{bucket: bucket}, prefix: prefix}
	if r.prefix != "" {
		r.prefix += "/"
	}
	address := cmp.Or(endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), amazon)
	u, err := parseEndpoint(address)
	if err != nil {
		return nil, err
	}
	host, lookup := u.Host, minio.BucketLookupAuto
	if at, ok := strings.CutPrefix(host, bucket+"."); ok && strings.Contains(at, ".") {
		host, lookup = at, minio.BucketLookupDNS
	}
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if !s3utils.IsAmazonEndpoint(url.URL{Host: host}) { // a region of Amazon is in its address
		region = cmp.Or(region, regionDefault)
	}
	r.http = &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialMax}).DialContext,
		TLSHandshakeTimeout:   dialMax,
		ResponseHeaderTimeout: answerMax,
		IdleConnTimeout:       idleMax,
		MaxIdleConnsPerHost:   connectionsMax,
		MaxConnsPerHost:       connectionsMax,
		DisableCompression:    true,

		MaxResponseHeaderBytes: headersMax,
	}
	creds, err := findCredentials()
	if err != nil {
		return nil, err
	}
	r.client, err = minio.NewCore(host, &minio.Options{
		Creds: creds, Secure: u.Scheme == "https", Region: region, BucketLookup: lookup,
		Transport: matching{r.http}, MaxRetries: triesMax,
	})
	if err != nil {
		return nil, addressError(address)
	}
	r.host = r.client.EndpointURL().Host
	return r, nil
}

func parseEndpoint(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, addressError(address)
	}
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16); err != nil || port == 0 {
		return nil, addressError(address)
	}
	return u, nil
}

func addressError(address string) error {
	return fmt.Errorf("%q is not the address of an object store: use one such as https://s3.example.com", afterUser(address))
}
