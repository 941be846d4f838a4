package service

import (
	"net"
	"net/http"
)

// localOnly answers only requests that name this machine as their host. Otherwise a foreign
// page in a local browser could use DNS rebinding: its own host name leads to this machine,
// and it could read and replace all files.
func localOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // no port
			host = r.Host
		}
		if !isLoopback(host) {
			http.Error(w, "this service is for this machine, and "+host+" is none of its names: use 127.0.0.1, or a token", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
