package crew

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"muster/regress"
	"muster/regress/internal/exec/reapi"
)

// Endpoint says where an engine is, who asks, and what goes there. Its Jobs are complete.
type Endpoint struct {
	regress.Remote
	Version string        // of this program
	Timeout time.Duration // for a case
}

// A case may wait workerWaitMax for a worker, in addition to its Timeout. A longer Timeout than
// caseRunMax counts as caseRunMax.
const (
	workerWaitMax = time.Hour
	caseRunMax    = 365 * 24 * time.Hour
)

// dialOptions returns the endpoint as package reapi wants it.
func (e *Endpoint) dialOptions(note func(string)) reapi.Endpoint {
	to := reapi.Endpoint{
		URL: e.URL, Instance: e.Instance, Token: e.Token, PlainToken: e.PlainToken,
		CA: e.CA, Cert: e.Cert, Key: e.Key, Version: e.Version, Priority: int32(e.Priority), Jobs: e.Jobs,
		Wait: e.Wait, Note: note,
		ExecutionTimeout: workerWaitMax + min(e.Timeout, caseRunMax),
	}
	for _, kv := range e.Headers {
		key, value, _ := strings.Cut(kv, "=")
		to.Headers = append(to.Headers, reapi.Header{Name: key, Value: value})
	}
	return to
}

// properties returns the platform as package reapi wants it.
func (e *Endpoint) properties() (list []reapi.Property) {
	for _, kv := range e.Platform {
		key, value, _ := strings.Cut(kv, "=")
		list = append(list, reapi.Property{Name: key, Value: value})
	}
	return list
}

// sendsFile reports whether a file is one of the inputs, or lies in one.
func (e *Endpoint) sendsFile(file string) bool {
	file, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	for _, input := range e.Inputs {
		input, err := filepath.Abs(input)
		if below, e := filepath.Rel(input, file); err == nil && e == nil && filepath.IsLocal(below) {
			return true
		}
	}
	return false
}

// Cache is a service that keeps what machines share, and need not execute anything.
type Cache = reapi.Cache

// cacheWait is the patience with a cache: a run can do without it.
const cacheWait = 2 * time.Second

// DialCache connects to a cache. Its address may also be that of a file server.
func DialCache(ctx context.Context, e Endpoint) (*Cache, error) {
	to := e.dialOptions(nil)
	for web, scheme := range map[string]string{"http://": "grpc://", "https://": "grpcs://"} {
		if rest, is := strings.CutPrefix(to.URL, web); is {
			to.URL = scheme + strings.TrimSuffix(rest, "/")
		}
	}
	to.Wait, to.Deadline, to.Jobs = cacheWait, 5*cacheWait, 1
	return reapi.DialCache(ctx, to)
}

// CacheReason says why a cache cannot be used, or "".
func CacheReason(err error) string { return reapi.ReasonOf(err) }

// IsCacheRefusal reports whether a cache does not let this client write.
func IsCacheRefusal(err error) bool { return reapi.IsRefused(err) }
