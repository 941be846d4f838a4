package regress

import (
	"muster/regress/internal/crew"
	"muster/regress/internal/job"
	"muster/regress/internal/opt"
)

// newEndpoint returns where the engine is, who asks, and what goes there.
func newEndpoint(o *opt.Options) crew.Endpoint {
	r := &o.Remote
	return crew.Endpoint{
		URL: r.URL, Instance: r.Instance, Headers: r.Headers, Token: r.Token, PlainToken: r.PlainToken,
		CA: r.CA, Cert: r.Cert, Key: r.Key, Version: o.Version, Priority: r.Priority, Jobs: job.CountRemoteJobs(r),
		Wait: r.Wait, Timeout: o.Limits.Timeout, Fallback: r.Fallback,
		Inputs: r.Inputs, Bundle: r.Bundle, Outputs: r.Outputs, Platform: r.Platform, Preflight: r.Preflight,
	}
}
